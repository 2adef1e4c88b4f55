// pm2 start ecosystem.config.cjs
module.exports = {
  apps: [
    {
      name: 'waybill-agents',
      script: 'node_modules/waybill/bin/waybill.js',
      args: ['work', '--preset', 'agent-consumer', '--env-file', 'agents.env', 'task.mjs'],
      exec_mode: 'cluster',
      instances: 3,
      max_memory_restart: '1G',
      autorestart: true,
      max_restarts: 10,
      min_uptime: '10s',
      restart_delay: 5000,
      // The preset hands back its runs within 4 s.
      kill_timeout: 5000,
      // Only the worker gets the signal: it ends the processes of its runs itself, and hands these back.
      treekill: false,
      cron_restart: '0 2 * * *',
      error_file: '.output/logs/err.log',
      out_file: '.output/logs/out.log',
      log_file: '.output/logs/combined.log',
      // All instances write to these files, without a number in their names.
      merge_logs: true,
    },
  ],
};

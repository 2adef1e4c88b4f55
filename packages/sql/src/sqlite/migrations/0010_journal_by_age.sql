-- Old batches are found by their own time: one whose time lies ahead, because a clock was wrong, holds up no other.
create index journal_stored on journal (stored_at);

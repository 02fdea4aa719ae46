//! The event model.

//! What is sent again, when, and at whose expense.

mod budget;
mod delays;
mod table;

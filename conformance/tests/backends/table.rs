//! What came of every scenario in every form, in three columns.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};
use promptarium_conformance::report::Outcome;

use crate::form::Form;

/// Outcomes by scenario, a column for each form.
#[derive(Default)]
pub(crate) struct Table(Mutex<BTreeMap<&'static str, Row>>);

type Row = [Option<Outcome>; Form::ALL.len()];

impl Table {
    pub(crate) fn add(&self, form: Form, id: &'static str, outcome: Outcome) {
        self.rows(|rows| rows.entry(id).or_default()[form as usize] = Some(outcome));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows(|rows| rows.is_empty())
    }

    /// Scenarios that did not come to the same in all forms that ran at all; in a
    /// `whole` run every form has to.
    pub(crate) fn differences(&self, whole: bool) -> Vec<String> {
        self.rows(|rows| {
            let ran = |form: &Form| whole || rows.values().any(|row| row[*form as usize].is_some());
            let forms: Vec<Form> = Form::ALL.into_iter().filter(ran).collect();
            let equal = |row: &Row| {
                forms.windows(2).all(|two| row[two[0] as usize] == row[two[1] as usize])
            };
            let unequal = rows.iter().filter(|(_, row)| !equal(row));
            unequal.map(|(id, row)| format!("{id}: {}", in_words(&forms, row))).collect()
        })
    }

    fn count(&self, form: Form, outcomes: &[Outcome]) -> usize {
        let counts = |row: &&Row| row[form as usize].is_some_and(|one| outcomes.contains(&one));
        self.rows(|rows| rows.values().filter(counts).count())
    }

    fn rows<T>(&self, with: impl FnOnce(&mut BTreeMap<&'static str, Row>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn in_words(forms: &[Form], row: &Row) -> String {
    let word = |form: &Form| match row[*form as usize] {
        Some(Outcome::Passed) => format!("passed in {form}"),
        Some(Outcome::Failed | Outcome::Blocked | Outcome::Error | Outcome::Known) => {
            format!("failed in {form}")
        }
        Some(Outcome::Skipped) => format!("skipped in {form}"),
        None => format!("absent in {form}"),
    };
    forms.iter().map(word).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, cell: &dyn Fn(Form) -> String| {
            write!(f, "{name:<10}")?;
            for form in Form::ALL {
                write!(f, "{:>12}", cell(form))?;
            }
            writeln!(f)
        };
        line("scenarios", &|form| form.name().to_owned())?;
        for (name, outcomes) in [
            ("passed", &[Outcome::Passed][..]),
            ("failed", &[Outcome::Failed, Outcome::Blocked, Outcome::Error]),
            ("skipped", &[Outcome::Skipped]),
        ] {
            line(name, &|form| self.count(form, outcomes).to_string())?;
        }
        Ok(())
    }
}

/// The table's own test, in a harness that has no other place for it.
pub(crate) fn tests() -> Vec<Trial> {
    vec![Trial::test("table::it_shows_the_forms_and_in_what_they_differ", shown)]
}

fn shown() -> Result<(), Failed> {
    let (passed, failed) = (Some(Outcome::Passed), Some(Outcome::Failed));
    let rows = [("a", [passed, failed, passed]), ("b", [passed, None, None]), ("c", [passed; 3])];
    let table = Table(Mutex::new(rows.into_iter().collect()));
    let expected = [
        "a: passed in memory, failed in postgres, passed in replicas",
        "b: passed in memory, absent in postgres, absent in replicas",
    ];
    same(&table.differences(false), &expected.map(str::to_owned).to_vec())?;
    let one_form = Table(Mutex::new([rows[1]].into_iter().collect()));
    same(&(one_form.differences(false).len(), one_form.differences(true).len()), &(0, 1))?;
    let expected = "\
scenarios       memory    postgres    replicas
passed               3           1           2
failed               0           1           0
skipped              0           0           0
";
    same(&table.to_string().as_str(), &expected)
}

fn same<T: PartialEq + fmt::Debug>(got: &T, expected: &T) -> Result<(), Failed> {
    if got == expected { Ok(()) } else { Err(format!("{got:?} is not {expected:?}").into()) }
}

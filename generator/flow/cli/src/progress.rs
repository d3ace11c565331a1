//! Progress on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pushmem_regression::Progress;

use crate::output;

/// Cycles that the model of a tile takes about a second for.
const LONG_RUN: u64 = 1_000_000;

/// Where progress shows: on standard error, if that is a terminal and quiet is not asked for.
fn target() -> ProgressDrawTarget {
    if output::shows_progress() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

/// A bar on a terminal, silent in a pipe.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar for some items.
    pub fn new(items: usize) -> Self {
        Bar::with_template(items as u64, "{bar:30} {pos}/{len} {msg}")
    }

    /// A bar for a run of some cycles, which it says first if they take long.
    pub fn of_cycles(what: &str, length: u64) -> Self {
        let bar = Bar::with_template(length, "{bar:30} {human_pos}/{human_len} cycles, {eta} left");
        if length >= LONG_RUN {
            bar.0.println(format!("{what}: {length} cycles to run"));
        }
        bar
    }

    fn with_template(length: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), target());
        bar.set_style(ProgressStyle::with_template(template).expect("the template is fixed"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar(bar)
    }

    /// So many cycles are over.
    pub fn reached(&self, cycle: u64) {
        self.0.set_position(cycle);
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, name: &str) {
        self.0.set_message(name.to_owned());
    }

    fn end(&self, bad: Option<String>) {
        self.0.inc(1);
        if let Some(text) = bad {
            self.0.suspend(|| output::warn(&text));
        }
    }
}

/// The step of a long piece of work, on a terminal; silent in a pipe.
pub struct Spinner(ProgressBar);

impl Spinner {
    /// A spinner that says nothing yet.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}").expect("the template is fixed");
        let bar = ProgressBar::with_draw_target(None, target()).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Spinner(bar)
    }

    /// Says what is being done.
    pub fn say(&self, step: &str) {
        self.sayer()(step);
    }

    /// Says it for others, as long as the spinner is there.
    pub fn sayer(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let bar = self.0.clone();
        move |step| {
            output::note(step);
            bar.set_message(step.to_owned());
        }
    }

    /// Has something printed that stays, above the spinner.
    pub fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl Drop for Spinner {
    /// Removes the spinner.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

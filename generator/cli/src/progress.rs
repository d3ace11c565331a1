//! Progress on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Where progress shows: on standard error, if that is a terminal and nobody wants quiet.
fn target() -> ProgressDrawTarget {
    if output::is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// A bar on a terminal, silent in a pipe.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar for some items.
    pub fn new(items: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(items as u64), target());
        bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("the template is fixed"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar(bar)
    }

    /// Work on an item began.
    pub fn begin(&self, name: &str) {
        self.0.set_message(name.to_owned());
    }

    /// Work on an item ended.
    pub fn end(&self) {
        self.0.inc(1);
    }

    /// Prints a line on standard error, above the bar.
    pub fn warn(&self, text: &str) {
        self.0.suspend(|| output::warn(text));
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// What a long piece of work is doing, on a terminal; silent in a pipe.
pub struct Spinner(ProgressBar);

impl Spinner {
    /// A spinner that says nothing yet.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, target()).with_style(ProgressStyle::default_spinner());
        bar.enable_steady_tick(Duration::from_millis(200));
        Spinner(bar)
    }

    /// Says what is being done.
    pub fn say(&self, step: &str) {
        self.0.set_message(step.to_owned());
    }

    /// Removes the spinner.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

//! The page.

use askama::Template;

use crate::contents::Contents;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    contents: String,
}

impl Contents {
    /// The page: HTML that needs no other file.
    pub fn to_html(&self) -> String {
        let json = serde_json::to_string(self).expect("contents are numbers and names");
        // Whatever a name is, it does not end the script that it is in.
        let title = match &self.array {
            Some(array) => format!("{} on {}", self.figures.name, array.name),
            None => self.figures.name.clone(),
        };
        let page = Page { title: &title, contents: json.replace('<', "\\u003c") };
        page.render().expect("templates write to memory")
    }
}

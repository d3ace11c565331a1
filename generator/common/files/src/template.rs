//! Templates of askama.

use askama::Template;

/// A template of askama, with the type and the value of each name in it. Nothing in it is escaped.
///
/// ```ignore
/// let text = template!("registers.h", map: &'a RegisterMap = map).render();
/// ```
#[macro_export]
macro_rules! template {
    ($path:tt, $($(#[$of_field:meta])* $field:ident: $Type:ty = $value:expr),+ $(,)?) => {{
        #[derive($crate::askama::Template)]
        #[template(path = $path, escape = "none", askama = $crate::askama)]
        struct Text<'a> {
            $($(#[$of_field])* $field: $Type,)+
            // Not every template borrows.
            _borrows: std::marker::PhantomData<&'a ()>,
        }

        Text { $($field: $value,)+ _borrows: std::marker::PhantomData }
    }};
}

/// The text of a [`template!`](crate::template!), as [`render`](crate::render) gives it.
#[macro_export]
macro_rules! text {
    ($($template:tt)+) => {
        $crate::render(&$crate::template!($($template)+))
    };
}

/// The text of a template, without empty lines around it, and with the end of its last line.
pub fn render(template: &impl Template) -> String {
    format!("{}\n", template.render().expect("templates write to memory").trim())
}

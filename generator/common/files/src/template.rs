//! Templates of askama.

/// A template of askama, with the type and the value of each name in it. Nothing in it is escaped.
///
/// ```ignore
/// let text = template!("registers.h", map: &'a RegisterMap = map).render();
/// ```
#[macro_export]
macro_rules! template {
    ($path:tt, $($(#[$of_field:meta])* $field:ident: $Type:ty = $value:expr),+ $(,)?) => {{
        #[derive(askama::Template)]
        #[template(path = $path, escape = "none")]
        struct Text<'a> {
            $($(#[$of_field])* $field: $Type,)+
            // Not every template borrows.
            _borrows: std::marker::PhantomData<&'a ()>,
        }

        Text { $($field: $value,)+ _borrows: std::marker::PhantomData }
    }};
}

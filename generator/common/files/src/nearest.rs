//! The nearest of several words, for "did you mean".

/// Words longer than this are not names that somebody mistyped.
const LONGEST_WORD: usize = 64;

/// The candidate that `word` was most likely meant to be, if any is close enough.
///
/// Close enough means that at most a third of the letters (but always one) are missing,
/// superfluous, different or swapped; capital letters do not count as different. Of equally close
/// candidates the first wins.
///
/// ```
/// use pushmem_files::nearest;
///
/// assert_eq!(nearest("rwos", ["columns", "rows"]), Some("rows"));
/// assert_eq!(nearest("voltage", ["columns", "rows"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let lowercase = word.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_WORD)
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&lowercase, &candidate.to_lowercase());
            let longer = word.chars().count().max(candidate.chars().count());
            // A single letter has nothing in common with a different single letter.
            let allowed = (longer / 3).max(1).min(longer.saturating_sub(1));
            (distance <= allowed).then_some((distance, candidate))
        })
        // Of several as near, always the same one.
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_the_closest_candidate() {
        assert_eq!(nearest("strid", ["stride", "strides"]), Some("stride"));
        assert_eq!(nearest("STRIDE", ["extent", "stride"]), Some("stride"));
        assert_eq!(nearest("exetnt", ["extent", "event"]), Some("extent"));
    }

    #[test]
    fn finds_nothing_far_away() {
        assert_eq!(nearest("a", ["b"]), None);
        assert_eq!(nearest("", ["rows"]), None);
        assert_eq!(nearest("rows", []), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), ["rows"]), None);
    }
}

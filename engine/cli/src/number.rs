//! Numbers as people read them.

/// A number with its digits in threes.
///
/// # Examples
///
/// ```
/// assert_eq!(tenure_cli::number::grouped(1_048_588), "1,048,588");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_stand_in_threes() {
        let texts = [0, 999, 1_000, 1_048_588].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,048,588"]);
    }
}

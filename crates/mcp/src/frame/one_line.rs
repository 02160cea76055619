//! A message as one line. Where messages are lines, a line break between two values of one message would end it there, and
//! what follows could be another message that nobody has judged.

/// Writes blanks in place of line breaks. To be used for a text that the strict reader took whole, or that is made of such
/// texts: then line breaks stand between values only, where every blank means the same, and every place in the text stays
/// where it was. Some readers end a line at a carriage return, too.
///
/// ```
/// let mut frame = b"{\"id\":\r\n1}".to_vec();
/// callgate_mcp::frame::one_line(&mut frame);
/// assert_eq!(frame, b"{\"id\":  1}");
/// ```
pub fn one_line(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

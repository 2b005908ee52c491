//! Pictures in SVG: plain files with text, whose colours follow the light or dark ones of whoever
//! shows them.

use std::fmt::Write as _;

/// Colours by class; every fill has a text colour that is read on it.
const STYLE: &str = "\
svg{color-scheme:light dark;font-family:system-ui,sans-serif;font-size:13px}\
.paper{fill:#fff}.ink{fill:#1b1b1b}.faint{fill:#555}.axis{stroke:#555;stroke-width:1}\
.grid{stroke:#ccc;stroke-width:1}.win{fill:#1f6feb}.loss{fill:#b54708}\
.white{fill:#b7d7f7}.black{fill:#f5c9a6}.draw{fill:#dcdcdc}.none{fill:#f4f4f4}\
.title{font-size:16px;font-weight:600}.man{font-size:34px}.end{text-anchor:end}\
.middle{text-anchor:middle}.frame{fill:none;stroke:#1b1b1b;stroke-width:2}\
@media(prefers-color-scheme:dark){\
.paper{fill:#161616}.ink{fill:#ececec}.faint{fill:#b0b0b0}.axis{stroke:#b0b0b0}.grid{stroke:#3a3a3a}\
.win{fill:#6cb0ff}.loss{fill:#ff9d5c}.white{fill:#1d4a78}.black{fill:#7a3d12}.draw{fill:#4a4a4a}\
.none{fill:#242424}.frame{stroke:#ececec}}";

/// A picture that grows.
#[derive(Debug)]
pub(crate) struct Svg {
    text: String,
}

/// A text that shows what it is, whatever it holds.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML knows no other control characters.
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

impl Svg {
    /// An empty picture of that size, with a name and a description for those who do not see it.
    pub(crate) fn new(width: u32, height: u32, title: &str, description: &str) -> Svg {
        let (title, description) = (escaped(title), escaped(description));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"desc\">{description}</desc>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"
        );
        Svg { text }
    }

    /// A rectangle: its left and upper end, its width and height. `title` is shown by a pointer.
    pub(crate) fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let _ = write!(
            self.text,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\""
        );
        let _ = match title {
            "" => writeln!(self.text, "/>"),
            title => writeln!(self.text, "><title>{}</title></rect>", escaped(title)),
        };
    }

    /// A line between two points.
    pub(crate) fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let _ = writeln!(
            self.text,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    /// A text at a point of its base line.
    pub(crate) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let text = escaped(text);
        let _ =
            writeln!(self.text, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
    }

    /// The whole picture.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        let mut svg = Svg::new(10, 10, "a < b", "c & \"d\"\u{1}");
        svg.text("ink", 1.0, 2.0, "<script>");
        svg.rect("win", [0.0, 0.0, 1.0, 1.0], "5 > 4");
        let text = svg.finish();
        assert!(!text.contains("<script>") && text.contains("&lt;script&gt;"), "{text}");
        assert!(text.contains("a &lt; b") && text.contains("c &amp; &quot;d&quot;?"), "{text}");
        assert_eq!(text.matches('<').count(), text.matches('>').count());
    }
}

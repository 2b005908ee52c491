//! The schema of control files, and the parser's judgement to compare it with.
//!
//! Schemas are judged with derivatives, the usual way for RELAX NG: what a pattern still asks for
//! after each part of a document. Only what our schema uses is understood. The crates there are
//! were tried and took two outputs for one.
#![allow(clippy::unwrap_used, dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hoffman_control::{ControlError, ControlFile, Strictness};
use regex::Regex;
use roxmltree::{Document, Node, ParsingOptions};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page of the documentation.
pub(crate) fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// What the parser has against a text.
pub(crate) fn parse(text: &str) -> Result<ControlFile, ControlError> {
    ControlFile::parse(text, "example.xml", Strictness::Control)
}

/// Whether a node is an element of that name in the language of schemas.
pub(crate) fn is_rule(node: &Node<'_, '_>, name: &str) -> bool {
    let tag = node.tag_name();
    tag.namespace() == Some("http://relaxng.org/ns/structure/1.0") && tag.name() == name
}

/// The elements of a schema in another, without annotations.
pub(crate) fn rules<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(|n| is_rule(n, n.tag_name().name()))
}

/// What a reference refers to.
pub(crate) fn definition<'a>(reference: Node<'a, 'a>) -> Node<'a, 'a> {
    let name = reference.attribute("name");
    let is_meant = |n: &Node<'_, '_>| is_rule(n, "define") && n.attribute("name") == name;
    reference.document().descendants().find(is_meant).unwrap()
}

/// What the schema has against a text.
pub(crate) fn complaint(schema: &str, text: &str) -> Option<String> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => return Some(error.to_string()),
    };
    let schema = Document::parse(schema).unwrap();
    let start = schema.root_element().children().find(|n| is_rule(n, "start")).unwrap();
    let mut trouble = None;
    let rest = after_element(&group_of(start), document.root_element(), &mut trouble);
    (!is_optional(&rest)).then(|| trouble.unwrap_or_else(|| "something is missing".to_owned()))
}

type Pattern<'s> = Rc<Part<'s>>;

/// What is asked for.
enum Part<'s> {
    Empty,
    /// Nothing fits any more.
    Never,
    Text,
    /// A value, described by a `value` or `data` element.
    Data(Node<'s, 's>),
    /// An attribute of that name, or of any.
    Attribute(Option<&'s str>, Pattern<'s>),
    /// An element, described by an `element` element, which is looked into when it is needed.
    Element(Node<'s, 's>),
    Choice(Pattern<'s>, Pattern<'s>),
    Interleave(Pattern<'s>, Pattern<'s>),
    Group(Pattern<'s>, Pattern<'s>),
    OneOrMore(Pattern<'s>),
    /// Inside an element: what it still needs, and what is needed behind it.
    After(Pattern<'s>, Pattern<'s>),
}

use Part::{
    After, Attribute, Choice, Data, Element, Empty, Group, Interleave, Never, OneOrMore, Text,
};

fn pair<'s>(
    make: fn(Pattern<'s>, Pattern<'s>) -> Part<'s>,
    one: Pattern<'s>,
    other: Pattern<'s>,
) -> Pattern<'s> {
    let is_choice = matches!(make(Rc::new(Empty), Rc::new(Empty)), Choice(..));
    let is_after = matches!(make(Rc::new(Empty), Rc::new(Empty)), After(..));
    match (&*one, &*other) {
        (Never, _) if is_choice => other,
        (_, Never) if is_choice => one,
        (Never, _) | (_, Never) => Rc::new(Never),
        (Empty, _) if !is_choice && !is_after => other,
        (_, Empty) if !is_choice && !is_after => one,
        _ => Rc::new(make(one, other)),
    }
}

fn many(one: Pattern<'_>) -> Pattern<'_> {
    if matches!(*one, Never) { one } else { Rc::new(OneOrMore(one)) }
}

/// The contents of a node, one behind the other.
fn group_of<'s>(node: Node<'s, 's>) -> Pattern<'s> {
    let parts = rules(node).filter(|n| !["name", "anyName"].contains(&n.tag_name().name()));
    let class = is_rule(&node, "element") && node.attribute("name").is_none();
    // A choice of names comes first.
    let parts = parts.skip_while(|n| class && is_rule(n, "choice") && is_name_class(*n));
    parts.map(read).reduce(|one, other| pair(Group, one, other)).unwrap_or(Rc::new(Empty))
}

fn is_name_class(node: Node<'_, '_>) -> bool {
    rules(node).all(|n| is_rule(&n, "name"))
}

fn read<'s>(node: Node<'s, 's>) -> Pattern<'s> {
    let fold = |make| rules(node).map(read).reduce(|one, other| pair(make, one, other)).unwrap();
    match node.tag_name().name() {
        "empty" => Rc::new(Empty),
        "text" => Rc::new(Text),
        "value" | "data" => Rc::new(Data(node)),
        "element" => Rc::new(Element(node)),
        "attribute" => {
            let any = rules(node).any(|n| is_rule(&n, "anyName"));
            assert!(any || node.attribute("name").is_some());
            let has_content = rules(node).any(|n| !is_rule(&n, "anyName"));
            let content = if has_content { group_of(node) } else { Rc::new(Text) };
            Rc::new(Attribute(node.attribute("name"), content))
        }
        "ref" => group_of(definition(node)),
        "group" => fold(Group),
        "choice" => fold(Choice),
        "interleave" => fold(Interleave),
        "optional" => pair(Choice, group_of(node), Rc::new(Empty)),
        "oneOrMore" => many(group_of(node)),
        "zeroOrMore" => pair(Choice, many(group_of(node)), Rc::new(Empty)),
        other => panic!("<{other}> is not understood"),
    }
}

/// Whether nothing need follow.
fn is_optional(pattern: &Part<'_>) -> bool {
    match pattern {
        Empty | Text => true,
        Choice(one, other) => is_optional(one) || is_optional(other),
        Group(one, other) | Interleave(one, other) => is_optional(one) && is_optional(other),
        OneOrMore(one) => is_optional(one),
        Never | Data(_) | Attribute(..) | Element(_) | After(..) => false,
    }
}

/// What is asked for behind an element. The first trouble is noted.
fn after_element<'s>(
    pattern: &Pattern<'s>,
    element: Node<'_, '_>,
    trouble: &mut Option<String>,
) -> Pattern<'s> {
    let mut note = |pattern: &Pattern<'_>, what: &str| {
        if matches!(**pattern, Never) {
            let row = element.document().text_pos_at(element.range().start).row;
            let name = element.tag_name().name();
            trouble.get_or_insert(format!("line {row}, <{name}>: {what}"));
        }
    };
    let name = element.tag_name().name();
    let mut inside = opened(pattern, name);
    note(&inside, "not allowed here");
    for attribute in element.attributes() {
        inside = after_attribute(&inside, attribute.name(), attribute.value());
        note(&inside, attribute.name());
    }
    inside = closed(&inside);
    note(&inside, "an attribute is missing");
    let mut inner = None;
    for child in element.children() {
        if child.is_element() {
            inside = after_element(&inside, child, &mut inner);
        } else if child.is_text() && !child.text().unwrap_or_default().trim().is_empty() {
            inside = after_text(&inside);
        }
    }
    let behind = ended(&inside);
    if inner.is_some() {
        *trouble = trouble.take().or(inner);
    }
    let mut note = |what: &str| {
        if matches!(*behind, Never) {
            trouble.get_or_insert(format!("<{name}>: {what}"));
        }
    };
    note("content that is missing or does not belong there");
    behind
}

/// Behind the name of an element.
fn opened<'s>(pattern: &Pattern<'s>, name: &str) -> Pattern<'s> {
    match &**pattern {
        Element(node) if names(*node, name) => pair(After, group_of(*node), Rc::new(Empty)),
        Choice(one, other) => pair(Choice, opened(one, name), opened(other, name)),
        Interleave(one, other) => {
            let first = beyond(&opened(one, name), &|rest| pair(Interleave, rest, other.clone()));
            let second = beyond(&opened(other, name), &|rest| pair(Interleave, one.clone(), rest));
            pair(Choice, first, second)
        }
        Group(one, other) => {
            let first = beyond(&opened(one, name), &|rest| pair(Group, rest, other.clone()));
            let skipped = is_optional(one).then(|| opened(other, name));
            pair(Choice, first, skipped.unwrap_or(Rc::new(Never)))
        }
        OneOrMore(one) => {
            let again = pair(Choice, pattern.clone(), Rc::new(Empty));
            beyond(&opened(one, name), &|rest| pair(Group, rest, again.clone()))
        }
        After(one, other) => beyond(&opened(one, name), &|rest| pair(After, rest, other.clone())),
        Empty | Never | Text | Data(_) | Attribute(..) | Element(_) => Rc::new(Never),
    }
}

/// Changes what is asked for behind an element.
fn beyond<'s>(pattern: &Pattern<'s>, change: &dyn Fn(Pattern<'s>) -> Pattern<'s>) -> Pattern<'s> {
    match &**pattern {
        After(inside, behind) => pair(After, inside.clone(), change(behind.clone())),
        Choice(one, other) => pair(Choice, beyond(one, change), beyond(other, change)),
        _ => Rc::new(Never),
    }
}

/// Whether an `element` element describes elements of that name.
fn names(node: Node<'_, '_>, name: &str) -> bool {
    let given = |n: &Node<'_, '_>| is_rule(n, "name") && n.text().is_some_and(|t| t.trim() == name);
    match node.attribute("name") {
        Some(own) => own == name,
        None => rules(node).any(|class| {
            is_rule(&class, "anyName") || is_name_class(class) && rules(class).any(|n| given(&n))
        }),
    }
}

fn after_attribute<'s>(pattern: &Pattern<'s>, name: &str, value: &str) -> Pattern<'s> {
    let on = |pattern| after_attribute(pattern, name, value);
    match &**pattern {
        Attribute(own, content) if own.is_none_or(|own| own == name) && fits(content, value) => {
            Rc::new(Empty)
        }
        Choice(one, other) => pair(Choice, on(one), on(other)),
        Group(one, other) => {
            pair(Choice, pair(Group, on(one), other.clone()), pair(Group, one.clone(), on(other)))
        }
        Interleave(one, other) => pair(
            Choice,
            pair(Interleave, on(one), other.clone()),
            pair(Interleave, one.clone(), on(other)),
        ),
        OneOrMore(one) => pair(Group, on(one), pair(Choice, pattern.clone(), Rc::new(Empty))),
        After(inside, behind) => pair(After, on(inside), behind.clone()),
        Empty | Never | Text | Data(_) | Attribute(..) | Element(_) => Rc::new(Never),
    }
}

/// Whether a value is what a pattern asks for.
fn fits(pattern: &Part<'_>, value: &str) -> bool {
    match pattern {
        Text => true,
        Empty => value.trim().is_empty(),
        Choice(one, other) => fits(one, value) || fits(other, value),
        Data(node) => fits_data(*node, value),
        _ => panic!("attributes hold values"),
    }
}

fn fits_data(node: Node<'_, '_>, value: &str) -> bool {
    let collapsed = value.split_whitespace().collect::<Vec<_>>().join(" ");
    if is_rule(&node, "value") {
        return node.text() == Some(&collapsed);
    }
    let kind = node.attribute("type").unwrap();
    let value = if kind == "string" { value } else { &collapsed };
    let number = value.parse::<i64>();
    (kind != "integer" || number.is_ok())
        && rules(node).all(|rule| {
            let text = rule.text().unwrap_or_default();
            let bound = || text.parse::<i64>().unwrap();
            match (rule.tag_name().name(), rule.attribute("name").unwrap_or_default()) {
                ("except", _) => !rules(rule).any(|n| fits_data(n, value)),
                ("param", "pattern") => {
                    Regex::new(&format!("^(?:{text})$")).unwrap().is_match(value)
                }
                ("param", "minLength") => value.chars().count() as i64 >= bound(),
                ("param", "minInclusive") => number.clone().is_ok_and(|n| n >= bound()),
                ("param", "maxInclusive") => number.clone().is_ok_and(|n| n <= bound()),
                (rule, name) => panic!("<{rule}> {name} is not understood"),
            }
        })
}

/// Behind all attributes: those that are still asked for are missing.
fn closed<'s>(pattern: &Pattern<'s>) -> Pattern<'s> {
    match &**pattern {
        Attribute(..) => Rc::new(Never),
        Choice(one, other) => pair(Choice, closed(one), closed(other)),
        Group(one, other) => pair(Group, closed(one), closed(other)),
        Interleave(one, other) => pair(Interleave, closed(one), closed(other)),
        OneOrMore(one) => many(closed(one)),
        After(inside, behind) => pair(After, closed(inside), behind.clone()),
        Empty | Never | Text | Data(_) | Element(_) => pattern.clone(),
    }
}

fn after_text<'s>(pattern: &Pattern<'s>) -> Pattern<'s> {
    match &**pattern {
        Text => pattern.clone(),
        Choice(one, other) => pair(Choice, after_text(one), after_text(other)),
        Interleave(one, other) => pair(
            Choice,
            pair(Interleave, after_text(one), other.clone()),
            pair(Interleave, one.clone(), after_text(other)),
        ),
        Group(one, other) => {
            let first = pair(Group, after_text(one), other.clone());
            let skipped = is_optional(one).then(|| after_text(other));
            pair(Choice, first, skipped.unwrap_or(Rc::new(Never)))
        }
        OneOrMore(one) => {
            pair(Group, after_text(one), pair(Choice, pattern.clone(), Rc::new(Empty)))
        }
        After(inside, behind) => pair(After, after_text(inside), behind.clone()),
        Empty | Never | Data(_) | Attribute(..) | Element(_) => Rc::new(Never),
    }
}

/// Behind the end of an element.
fn ended<'s>(pattern: &Pattern<'s>) -> Pattern<'s> {
    match &**pattern {
        Choice(one, other) => pair(Choice, ended(one), ended(other)),
        After(inside, behind) if is_optional(inside) => behind.clone(),
        _ => Rc::new(Never),
    }
}

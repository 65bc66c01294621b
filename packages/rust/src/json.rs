//! As much JSON as the requests and responses need.

use std::fmt::{self, Write};

/// A value of JSON. Numbers, strings, booleans, options and vectors turn into one.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(String),
    String(String),
    Array(Vec<Value>),
    /// Keys and values in their order.
    Object(Vec<(String, Value)>),
}

macro_rules! from {
    ($($t:ty => $make:expr),* $(,)?) => { $(impl From<$t> for Value { fn from(x: $t) -> Value { $make(x) } })* };
}

from! {
    bool => Value::Bool,
    i32 => |x: i32| Value::Number(x.to_string()),
    u32 => |x: u32| Value::Number(x.to_string()),
    i64 => |x: i64| Value::Number(x.to_string()),
    u64 => |x: u64| Value::Number(x.to_string()),
    &str => |x: &str| Value::String(x.to_string()),
    String => Value::String,
    () => |()| Value::Null,
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(x: Option<T>) -> Value {
        x.map_or(Value::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(x: Vec<T>) -> Value {
        Value::Array(x.into_iter().map(Into::into).collect())
    }
}

impl Value {
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(all) => all.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Value::String(s) => s,
            _ => "",
        }
    }

    pub(crate) fn as_i64(&self) -> i64 {
        match self {
            Value::Number(n) => n.parse().unwrap_or(0),
            _ => 0,
        }
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.get(key).map_or("", Value::as_str).to_string()
    }
}

/// Prints JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => f.write_str(n),
            Value::String(s) => quoted(f, s),
            Value::Array(all) => {
                for (i, x) in all.iter().enumerate() {
                    write!(f, "{}{x}", if i == 0 { '[' } else { ',' })?;
                }
                f.write_str(if all.is_empty() { "[]" } else { "]" })
            }
            Value::Object(all) => {
                for (i, (k, x)) in all.iter().enumerate() {
                    f.write_char(if i == 0 { '{' } else { ',' })?;
                    quoted(f, k)?;
                    write!(f, ":{x}")?;
                }
                f.write_str(if all.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, s: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in s.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

/// Reads a value. Returns None if the text is not JSON.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut p = Parser { text, at: 0 };
    let value = p.value()?;
    p.space();
    (p.at == text.len()).then_some(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Passes a text after space, if it comes next.
    fn took(&mut self, token: &str) -> bool {
        self.space();
        let is = self.rest().starts_with(token);
        if is {
            self.at += token.len();
        }
        is
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        match self.rest().as_bytes().first()? {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string().map(Value::String),
            b'n' => self.took("null").then_some(Value::Null),
            b't' => self.took("true").then_some(Value::Bool(true)),
            b'f' => self.took("false").then_some(Value::Bool(false)),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<Value> {
        let length = self.rest().find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(self.rest().len());
        let number = self.rest()[..length].to_string();
        self.at += length;
        number.parse::<f64>().ok().map(|_| Value::Number(number))
    }

    fn array(&mut self) -> Option<Value> {
        let mut all = Vec::new();
        self.took("[");
        if self.took("]") {
            return Some(Value::Array(all));
        }
        loop {
            all.push(self.value()?);
            if self.took("]") {
                return Some(Value::Array(all));
            }
            self.took(",").then_some(())?;
        }
    }

    fn object(&mut self) -> Option<Value> {
        let mut all = Vec::new();
        self.took("{");
        if self.took("}") {
            return Some(Value::Object(all));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.took(":").then_some(())?;
            all.push((key, self.value()?));
            if self.took("}") {
                return Some(Value::Object(all));
            }
            self.took(",").then_some(())?;
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut s = String::new();
        self.took("\"").then_some(())?;
        loop {
            let plain = self.rest().find(['"', '\\'])?;
            s.push_str(&self.rest()[..plain]);
            self.at += plain + 1;
            if self.text.as_bytes()[self.at - 1] == b'"' {
                return Some(s);
            }
            let escape = self.rest().chars().next()?;
            self.at += escape.len_utf8();
            s.push(match escape {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => self.unit()?,
                c => c,
            });
        }
    }

    /// Reads the digits of an escape, which may be the first half of a pair.
    fn unit(&mut self) -> Option<char> {
        let mut units = vec![self.digits()?];
        if (0xd800..0xdc00).contains(&units[0]) && self.rest().starts_with("\\u") {
            self.at += 2;
            units.push(self.digits()?);
        }
        char::decode_utf16(units).next()?.ok()
    }

    fn digits(&mut self) -> Option<u16> {
        let unit = u16::from_str_radix(self.rest().get(..4)?, 16).ok()?;
        self.at += 4;
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read() {
        let text = r#"{"a":[1,-2.5e3,"x\"\\ü😀",null,true,false,[],{}],"b":"\u0001\u000a"}"#;
        let value = parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(parse(r#" "\u00fc\ud83d\ude00\n\/" "#).unwrap(), Value::String("ü😀\n/".into()));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "[1,]", "{\"a\"}", "\"", "\"\\u12\"", "1 2", "nul", "-"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

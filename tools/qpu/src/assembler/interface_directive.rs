//! Directives that declare a shader's interface.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Assembler, Res};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::interface::{
    Attribute, AttributeKind, Components, Output, PrimitiveKind, SemaphoreUse, Stage, Texture, TextureKind,
    TextureWords, Uniform, UniformType,
};
use crate::language::Directive;
use crate::lexer::{Token, TokenKind};
use crate::source::Span;

impl Assembler<'_> {
    pub(super) fn interface_directive(&mut self, directive: Directive, token: Token) -> Res {
        match directive {
            Directive::Stage => {
                let name = self.identifier("fragment, vertex, coordinate or user")?;
                let text = self.text(name);
                let Some(&(_, stage)) = Stage::NAMED.iter().find(|(name, _)| *name == text) else {
                    let message = format!("{} is no stage: fragment, vertex, coordinate or user", self.found(name));
                    return self.error(Code::BadInterface, name, message);
                };
                if self.interface.stage != Stage::Unknown {
                    return self.error(Code::InterfaceRedefined, token, "the stage is declared twice");
                }
                self.interface.stage = stage;
            }
            Directive::Threads => {
                let first = self.peek();
                let threads = self.integer("the number of threads")?;
                if !(1..=2).contains(&threads) {
                    return self.error(Code::BadInterface, first, format!("a QPU has 1 or 2 threads, not {threads}"));
                }
                if self.interface.threads.is_some() {
                    return self.error(Code::InterfaceRedefined, token, "the threads are declared twice");
                }
                self.interface.threads = Some(threads as u8);
            }
            Directive::Output => {
                let name = self.identifier("color or half_color")?;
                let text = self.text(name);
                let Some(&(_, output)) = Output::NAMED.iter().find(|(name, _)| *name == text) else {
                    let message =
                        format!("{} is nothing that a program can leave behind: color or half_color", self.found(name));
                    return self.error(Code::BadInterface, name, message);
                };
                if self.interface.output != Output::Own {
                    return self.error(Code::InterfaceRedefined, token, "the output is declared twice");
                }
                self.interface.output = output;
            }
            Directive::Primitive => {
                let name = self.identifier("triangles, lines or points")?;
                let text = self.text(name);
                let Some(&(_, primitive)) = PrimitiveKind::NAMED.iter().find(|(name, _)| *name == text) else {
                    let message = format!("{} is no kind of primitive: triangles, lines or points", self.found(name));
                    return self.error(Code::BadInterface, name, message);
                };
                if self.interface.primitive.replace(primitive).is_some() {
                    return self.error(Code::InterfaceRedefined, token, "the primitives are declared twice");
                }
            }
            Directive::PointSize => {
                if self.interface.point_size {
                    return self.error(Code::InterfaceRedefined, token, "the size of points is declared twice");
                }
                self.interface.point_size = true;
            }
            Directive::Uniform => {
                let (name, span) = self.interface_name(directive)?;
                self.expect(TokenKind::Comma, "`,` and a type")?;
                let ty = self.uniform_type()?;
                let count = self.interface_count(4096)?.unwrap_or(1);
                let offset_words = self.interface.uniform_words();
                self.interface.uniforms.push(Uniform { name, ty, count, offset_words, span });
            }
            Directive::Attribute => {
                let (name, span) = self.interface_name(directive)?;
                let components = self.interface_count(64)?.unwrap_or(1);
                let kind = if self.take(TokenKind::Comma) { self.attribute_kind()? } else { AttributeKind::default() };
                let offset_words = self.interface.attribute_words();
                self.interface.attributes.push(Attribute { name, components, kind, offset_words, span });
            }
            Directive::Varying => {
                let (name, span) = self.interface_name(directive)?;
                let components = self.interface_count(32)?.unwrap_or(1);
                let offset = self.interface.varying_components();
                self.interface.varyings.push(Components { name, components, offset, span });
            }
            Directive::Semaphore => self.semaphore_directive()?,
            _ => self.texture_directive(directive)?,
        }
        self.expect_end()
    }

    /// `NAME, UNIT [, 2d|2d64|cube|child [, bias] [, LOOKUPS]]`
    fn texture_directive(&mut self, directive: Directive) -> Res {
        let (name, span) = self.interface_name(directive)?;
        self.expect(TokenKind::Comma, "`,` and a TMU")?;
        let first = self.peek();
        let unit = self.integer("the TMU")?;
        if !(0..=1).contains(&unit) {
            return self.error(Code::BadInterface, first, format!("a slice has TMUs 0 and 1, not {unit}"));
        }
        let words = if self.take(TokenKind::Comma) { Some(self.texture_words()?) } else { None };
        let unit = unit as u8;
        let is_64_bit =
            |words: Option<TextureWords>| words.is_some_and(|words| words.kind == TextureKind::TwoDimensional64);
        let others = |texture: &&Texture| texture.unit == unit && is_64_bit(texture.words) != is_64_bit(words);
        if let Some(other) = self.interface.textures.iter().find(others) {
            let message =
                format!("TMU {unit} looks up textures of one result and of two: one of them belongs to the other TMU");
            let diagnostic = Diagnostic::error(Code::BadInterface, span, message);
            return Err(Box::new(diagnostic.related(other.span, "the other kind is declared here")));
        }
        self.interface.textures.push(Texture { name, unit, words, span });
        Ok(())
    }

    fn texture_words(&mut self) -> Res<TextureWords> {
        // The lexer takes `2d` for a number.
        let token = self.next();
        let Some(&(_, kind)) = TextureKind::NAMED.iter().find(|(name, _)| *name == self.text(token)) else {
            let message = format!("{} is no kind of texture: 2d, 2d64, cube or child", self.found(token));
            return self.error(Code::BadInterface, token, message);
        };
        let bias = self.peek().kind == TokenKind::Comma && self.text(self.peek_ahead(1)) == "bias";
        if bias {
            self.next();
            self.next();
        }
        let lookups = self.interface_count(1024)?.unwrap_or(1);
        Ok(TextureWords { kind, bias, lookups, offset_words: self.interface.uniform_words() })
    }

    /// `NUMBER, ACQUIRES, RELEASES`
    fn semaphore_directive(&mut self) -> Res {
        let token = self.peek();
        let number = self.integer("the semaphore")?;
        if !(0..=15).contains(&number) {
            return self.error(Code::BadInterface, token, format!("semaphores are 0 to 15, not {number}"));
        }
        let number = number as u8;
        let span = token.span(self.cursor.file);
        if let Some(first) = self.interface.semaphores.iter().find(|semaphore| semaphore.number == number) {
            let message = format!("semaphore {number} is declared twice");
            let diagnostic = Diagnostic::error(Code::InterfaceRedefined, span, message);
            return Err(Box::new(diagnostic.related(first.span, "first declared here")));
        }
        let mut times = [0; 2];
        for (times, what) in times.iter_mut().zip(["how often it is acquired", "how often it is released"]) {
            self.expect(TokenKind::Comma, "`,` and a number")?;
            let first = self.peek();
            let count = self.integer(what)?;
            if !(0..=4000).contains(&count) {
                return self.error(Code::BadInterface, first, format!("{count} is not in 0 to 4000"));
            }
            *times = count as u32;
        }
        let [acquires, releases] = times;
        self.interface.semaphores.push(SemaphoreUse { number, acquires, releases, span });
        Ok(())
    }

    fn uniform_type(&mut self) -> Res<UniformType> {
        let token = self.identifier("a type")?;
        let text = self.text(token);
        match UniformType::NAMED.iter().find(|(name, _)| *name == text) {
            Some(&(_, ty)) => Ok(ty),
            None => {
                let names: Vec<&str> = UniformType::NAMED.iter().map(|(name, _)| *name).collect();
                let message = format!("{} is no type: {}", self.found(token), names.join(", "));
                self.error(Code::BadInterface, token, message)
            }
        }
    }

    fn attribute_kind(&mut self) -> Res<AttributeKind> {
        let token = self.identifier("a kind of component")?;
        let text = self.text(token);
        match AttributeKind::NAMED.iter().find(|(name, _)| *name == text) {
            Some(&(_, kind)) => Ok(kind),
            None => {
                let names: Vec<&str> = AttributeKind::NAMED.iter().map(|(name, _)| *name).collect();
                let message = format!("{} is no kind of component: {}", self.found(token), names.join(", "));
                self.error(Code::BadInterface, token, message)
            }
        }
    }

    /// Parses a name, which must be new to the interface. As an exception, an attribute and a varying of a vertex shader may have the same name.
    fn interface_name(&mut self, directive: Directive) -> Res<(String, Span)> {
        let token = self.identifier("a name")?;
        let span = token.span(self.cursor.file);
        let name = self.text(token).to_owned();
        let interface = &self.interface;
        let uniforms = interface.uniforms.iter().map(|uniform| (&uniform.name, uniform.span));
        let attributes = if directive == Directive::Varying { &[] } else { interface.attributes.as_slice() };
        let attributes = attributes.iter().map(|attribute| (&attribute.name, attribute.span));
        let varyings = if directive == Directive::Attribute { &[] } else { interface.varyings.as_slice() };
        let varyings = varyings.iter().map(|varying| (&varying.name, varying.span));
        let textures = interface.textures.iter().map(|texture| (&texture.name, texture.span));
        let mut all = uniforms.chain(attributes).chain(varyings).chain(textures);
        if let Some((_, first)) = all.find(|(other, _)| **other == name) {
            let message = format!("the interface names {name} twice");
            let diagnostic = Diagnostic::error(Code::InterfaceRedefined, span, message);
            return Err(Box::new(diagnostic.related(first, "first named here")));
        }
        Ok((name, span))
    }

    fn interface_count(&mut self, max: i64) -> Res<Option<u32>> {
        if !self.take(TokenKind::Comma) {
            return Ok(None);
        }
        let first = self.peek();
        let count = self.integer("the number")?;
        if !(1..=max).contains(&count) {
            return self.error(Code::BadInterface, first, format!("{count} is not in 1 to {max}"));
        }
        Ok(Some(count as u32))
    }
}

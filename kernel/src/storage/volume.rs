//! The files of a volume, and what is wrong when one cannot be read or written

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{cell::RefCell, fmt};

use axfatfs::{Error, FileSystem, FsOptions, LossyOemCpConverter, NullTimeProvider, Read, Seek, SeekFrom, Write};

use super::{
    blocks::Blocks,
    cache::{Cache, CacheError, Stream},
};

/// Entries of a folder that are listed; a folder of FAT has at most 65,536 of 32 bytes, a file with a long name several of them.
const MOST_ENTRIES: usize = 65_536;
/// How many numbers are tried for a new file.
const MOST_NUMBERS: u32 = 9999;

/// Why a file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageError {
    /// The card, or the file system on it, cannot be used.
    Card(CacheError),
    /// The file system contradicts itself.
    Damaged,
    /// There is no such file or folder.
    NotFound(String),
    /// It is a folder, and a file is needed, or the other way round.
    NotAFile(String),
    /// There is a file of this name, and nothing is overwritten.
    Exists(String),
    /// The name is too long, or FAT has none like it.
    Name(String),
    /// The file is longer than what it is read for may be.
    TooLarge {
        /// The file.
        name: String,
        /// Its bytes.
        bytes: u64,
        /// Most bytes.
        most: usize,
    },
    /// The card has too little room.
    Full {
        /// Bytes of the file.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Card(error) => error.fmt(f),
            Self::Damaged => f.write_str("the file system on the card is damaged"),
            Self::NotFound(name) => write!(f, "the card has no {name}; `ls` lists its files"),
            Self::NotAFile(name) => write!(f, "{name} is a folder, or the path leads through a file"),
            Self::Exists(name) => write!(f, "{name} is on the card already, and nothing is overwritten"),
            Self::Name(name) => write!(f, "\"{name}\" cannot be the name of a file on the card"),
            Self::TooLarge { name, bytes, most } => write!(f, "{name} has {bytes} bytes, and at most {most} are read"),
            Self::Full { needed, free } => {
                write!(f, "the card is full: {needed} bytes are to be written, and {free} are free")
            }
        }
    }
}

impl core::error::Error for StorageError {}

impl From<CacheError> for StorageError {
    fn from(error: CacheError) -> Self {
        Self::Card(error)
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; characters that no terminal prints are question marks.
    pub name: String,
    /// Bytes of a file; `None` of a folder.
    pub bytes: Option<u64>,
}

/// A file system. Files have the first time that FAT can express, since the board has no clock.
pub struct Volume<'c, D: Blocks> {
    cache: &'c RefCell<Cache<D>>,
    files: FileSystem<Stream<'c, D>, NullTimeProvider, LossyOemCpConverter>,
}

impl<'c, D: Blocks> Volume<'c, D> {
    /// Opens the file system.
    ///
    /// # Errors
    /// When it is none, or is damaged.
    pub fn open(cache: &'c RefCell<Cache<D>>) -> Result<Self, StorageError> {
        let options = FsOptions::new().time_provider(NullTimeProvider::new());
        let files = FileSystem::new(Stream::new(cache), options).map_err(|error| named("", error))?;
        Ok(Self { cache, files })
    }

    /// Closes the file system, and has everything that was written stored on the card.
    ///
    /// # Errors
    /// When the card does not take it.
    pub fn close(self) -> Result<(), StorageError> {
        self.files.unmount().map_err(|error| named("", error))?;
        Ok(self.cache.borrow_mut().store_all()?)
    }

    /// The entries of a folder: folders first, then files, in the order of their names. The root has the empty path.
    ///
    /// # Errors
    /// When there is no such folder, or it is damaged.
    pub fn list(&self, path: &str) -> Result<Vec<Entry>, StorageError> {
        let path = trimmed(path);
        let root = self.files.root_dir();
        let folder = if path.is_empty() { root } else { root.open_dir(path).map_err(|error| named(path, error))? };
        let mut entries = Vec::new();
        for entry in folder.iter() {
            let entry = entry.map_err(|error| named(path, error))?;
            let name = printable(&entry.file_name());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == MOST_ENTRIES {
                return Err(StorageError::Damaged);
            }
            entries.push(Entry { name, bytes: entry.is_file().then(|| entry.len()) });
        }
        entries.sort_by(|a, b| (a.bytes.is_some(), &a.name).cmp(&(b.bytes.is_some(), &b.name)));
        Ok(entries)
    }

    /// Bytes that are free.
    ///
    /// # Errors
    /// When the tables cannot be read.
    pub fn free_bytes(&self) -> Result<u64, StorageError> {
        let stats = self.files.stats().map_err(|error| named("", error))?;
        Ok(u64::from(stats.free_clusters()) * u64::from(stats.cluster_size()))
    }

    /// A file's bytes.
    ///
    /// # Errors
    /// When there is no such file, it has more than `most` bytes, or is damaged.
    pub fn read(&self, path: &str, most: usize) -> Result<Vec<u8>, StorageError> {
        let path = trimmed(path);
        let mut file = self.files.root_dir().open_file(path).map_err(|error| named(path, error))?;
        let size = file.seek(SeekFrom::End(0)).map_err(|error| named(path, error))?;
        let Some(size) = usize::try_from(size).ok().filter(|&size| size <= most) else {
            return Err(StorageError::TooLarge { name: path.to_string(), bytes: size, most });
        };
        file.seek(SeekFrom::Start(0)).map_err(|error| named(path, error))?;
        let mut bytes = alloc::vec![0; size];
        let mut done = 0;
        while done < size {
            match file.read(&mut bytes[done..]).map_err(|error| named(path, error))? {
                // The chain of clusters ends before the file does.
                0 => return Err(StorageError::Damaged),
                count => done += count,
            }
        }
        Ok(bytes)
    }

    /// Writes a new file. If the card becomes full, nothing is left of it.
    ///
    /// # Errors
    /// When there is such a file or no such folder, when the card is full or write protected.
    pub fn create(&self, path: &str, bytes: &[u8]) -> Result<(), StorageError> {
        let path = trimmed(path);
        if path.split('/').any(str::is_empty) {
            return Err(StorageError::Name(path.to_string()));
        }
        if self.cache.borrow_mut().is_write_protected()? {
            return Err(CacheError::Card(bcm283x::sd_card::CardError::WriteProtected).into());
        }
        if self.exists(path)? {
            return Err(StorageError::Exists(path.to_string()));
        }
        let full = |free| StorageError::Full { needed: bytes.len() as u64, free };
        let free = self.free_bytes()?;
        if bytes.len() as u64 > free {
            return Err(full(free));
        }
        let root = self.files.root_dir();
        let written = root.create_file(path).and_then(|mut file| {
            file.write_all(bytes)?;
            Write::flush(&mut file)
        });
        written.map_err(|error| {
            // What is left of the file would take the room that there is. A card that does not take the file does not take its removal either.
            let _ = root.remove(path);
            match error {
                Error::NotEnoughSpace => full(free),
                error => named(path, error),
            }
        })
    }

    /// Whether there is a file or folder of this name.
    fn exists(&self, path: &str) -> Result<bool, StorageError> {
        match self.files.root_dir().open_file(path).map(drop) {
            Ok(()) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => match named(path, error) {
                StorageError::NotAFile(_) => Ok(true),
                error => Err(error),
            },
        }
    }

    /// The first of `STEM-1.EXTENSION`, `STEM-2.EXTENSION` and so on that is not on the card.
    ///
    /// # Errors
    /// When the card cannot be read, or all numbers are taken.
    pub fn free_name(&self, stem: &str, extension: &str) -> Result<String, StorageError> {
        let taken = self.list("")?;
        let mut names = (1..=MOST_NUMBERS).map(|number| format!("{stem}-{number}.{extension}"));
        let free = names.find(|name| !taken.iter().any(|entry| entry.name.eq_ignore_ascii_case(name)));
        free.ok_or_else(|| StorageError::Exists(format!("{stem}-{MOST_NUMBERS}.{extension}")))
    }
}

impl<D: Blocks> fmt::Debug for Volume<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {:?}", self.files.fat_type(), self.cache.borrow())
    }
}

/// A path without slashes at its ends.
fn trimmed(path: &str) -> &str {
    path.trim_matches('/')
}

/// What is wrong with the file of a path.
fn named(path: &str, error: Error<CacheError>) -> StorageError {
    let name = path.to_string();
    match error {
        Error::Io(error) => StorageError::Card(error),
        Error::NotFound => StorageError::NotFound(name),
        Error::InvalidInput => StorageError::NotAFile(name),
        Error::AlreadyExists => StorageError::Exists(name),
        Error::InvalidFileNameLength | Error::UnsupportedFileNameCharacter => StorageError::Name(name),
        _ => StorageError::Damaged,
    }
}

/// A name without what would move the cursor or begin a new line: a damaged card's names are anything.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

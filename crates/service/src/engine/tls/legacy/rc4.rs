//! The stream cipher RC4 (RFC 6229 has its test vectors), which servers of the past may have as
//! their only one.

/// A key stream.
pub struct Rc4 {
    state: [u8; 256],
    i: u8,
    j: u8,
}

impl Rc4 {
    pub fn new(key: &[u8]) -> Self {
        let mut state: [u8; 256] = std::array::from_fn(|at| at as u8);
        let mut j = 0_u8;
        for (at, key) in (0..256).zip(key.iter().cycle()) {
            j = j.wrapping_add(state[at]).wrapping_add(*key);
            state.swap(at, usize::from(j));
        }
        Self { state, i: 0, j: 0 }
    }

    /// Encrypts or decrypts the next bytes.
    pub fn apply(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.i = self.i.wrapping_add(1);
            let first = self.state[usize::from(self.i)];
            self.j = self.j.wrapping_add(first);
            let second = self.state[usize::from(self.j)];
            self.state.swap(usize::from(self.i), usize::from(self.j));
            *byte ^= self.state[usize::from(first.wrapping_add(second))];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_streams_match_rfc_6229() {
        for (key, expected) in [
            (
                &[1, 2, 3, 4, 5][..],
                [0xb2, 0x39, 0x63, 0x05, 0xf0, 0x3d, 0xc0, 0x27],
            ),
            (
                &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
                [0x9a, 0xc7, 0xcc, 0x9a, 0x60, 0x9d, 0x1e, 0xf7],
            ),
        ] {
            let mut stream = [0; 8];
            Rc4::new(key).apply(&mut stream);
            assert_eq!(stream, expected);
        }
    }
}

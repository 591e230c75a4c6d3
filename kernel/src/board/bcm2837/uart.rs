//! The interface that both UARTs have

/// A serial port with FIFOs, used byte by byte.
pub trait Uart {
    /// Sends a byte if there is room for it; otherwise says so.
    fn try_send(&mut self, byte: u8) -> bool;
    /// A byte that has arrived.
    fn try_receive(&mut self) -> Option<u8>;
    /// Lets the port interrupt when bytes arrive.
    fn enable_receive_interrupt(&mut self);
    /// Takes a pending receive interrupt back.
    fn acknowledge_receive_interrupt(&mut self);
    /// Whether every byte has left the port, its stop bit included.
    fn has_sent(&self) -> bool;

    /// Waits until every byte has left the port, or as long as a port that works can need.
    fn flush(&mut self) {
        // At 115,200 bits per second a FIFO of 16 bytes is sent in 1.4 ms; a million reads of a register take longer.
        for _ in 0..1_000_000 {
            if self.has_sent() {
                break;
            }
        }
    }
}

/// Bits per second of the console, whichever port it is on: 8 data bits, no parity, 1 stop bit.
pub const BAUD_RATE: u32 = 115_200;

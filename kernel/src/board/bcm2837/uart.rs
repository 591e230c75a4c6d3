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
    /// Waits until the last byte is on the line.
    fn flush(&mut self);
}

/// Bits per second of the console, whichever port it is on: 8 data bits, no parity, 1 stop bit.
pub const BAUD_RATE: u32 = 115_200;

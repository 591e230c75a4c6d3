//! The interface of both UARTs

/// A serial port with FIFOs, used byte by byte.
pub trait Uart {
    /// Sends a byte if the FIFO has room; returns whether it had.
    fn try_send(&mut self, byte: u8) -> bool;
    /// A received byte, if there is one.
    fn try_receive(&mut self) -> Option<u8>;
    /// Enables the receive interrupt.
    fn enable_receive_interrupt(&mut self);
    /// Clears a pending receive interrupt.
    fn acknowledge_receive_interrupt(&mut self);
    /// Whether all bytes have been sent, including the last stop bit.
    fn has_sent(&self) -> bool;

    /// Waits until all bytes have been sent, for a limited time.
    fn flush(&mut self) {
        // At 115,200 bits per second, a FIFO of 16 bytes is sent in 1.4 ms; a million register reads take longer.
        for _ in 0..1_000_000 {
            if self.has_sent() {
                break;
            }
        }
    }
}

/// Bits per second of the console on either UART: 8 data bits, no parity, 1 stop bit.
pub const BAUD_RATE: u32 = 115_200;

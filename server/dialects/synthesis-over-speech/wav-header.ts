/** Builds the header of a wav whose length is not known yet, as players of streams expect it. */

const HEADER_BYTES = 44
const UNKNOWN_LENGTH = 0xffffffff
const PCM = 1
const BYTES_PER_SAMPLE = 2

/** Returns the header for 16-bit mono samples. Both lengths are the largest possible. */
export function openWav(sampleRate: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(UNKNOWN_LENGTH, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(PCM, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28)
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32)
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(UNKNOWN_LENGTH, 40)
  return header
}

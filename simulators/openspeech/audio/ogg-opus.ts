// Ogg pages around Opus packets. Opus is too complex to write without an encoder, so one syllable
// was encoded once (six packets of 20 ms, 400 Hz with two harmonics, 48 kHz mono, CELT) and is
// repeated here; silence is the three-byte packet that every Opus encoder emits for it.
import type { Syllable } from './timeline.ts'
import { markOf } from './words.ts'

export const OPUS_UNIT_SECONDS = 0.02

const SILENCE = Buffer.from([0xf8, 0xff, 0xfe])
const TONE = [
  '+LU31lhuWXMGgT9UFdJ+GagKVAe9RHknSjoy0twr6RAJcUmO5vwL2Chg4WMEWVpIQ9astzscXgQr8Hwf' +
    'V4CDyErg5dFBt+hQr9GqmCJsiAYP+C2F4AQ83DCdSw1+KOLk4obdIdGpmc6fTWlMD2nt/WNErEyYJpA3' +
    'NAGFrT9OMpmWaDXlYp9XuQ==',
  '+LBlOVpvkaDWVuZqaZx8gAxYnoRx8EnCapjUiikYp6RT9AW98dML4A6GK5kOs40rHA65w8owuz9L2xo+' +
    '5kDTI1KvAc3R4EHC6669lGcmZuOTe/clCMh/3pcAg7HC4naZuQ==',
  '+K20ayEdwdfkPOwUWOoAAqhadBFiWs2vhFNxi/TTuY3fkJ9lj3vCgBZ280yLxoh7XXR8BEtUDJgV3vrH' +
    'k2fJXX11152pSTNkXBG3v1rQjKaspXbqeSk8dFO5',
  '+LbZdHIKL/D3ZbiTNTWbb0w+S1KRK6A5TZAb09mpX0ZRXgH5XQ+bsRR7wvnDqm1coueQMe2OO0wYs4ED' +
    'vmsPXWWFsrV+M2nObi1OHAyeOim5',
  '+LwuvxwKL/BmnFJDPRzbdN7X7pWWF95QPqGMFay9xirPoVJijpseJdZEOzwvkM0kr48gQ1Lcdpgw7YIH' +
    'fNcqussLZWr8ZtOc2wNOHIyWOim5',
  '+L/CYdFAwuzuGJpLbNKFSCb+MsmWDKtxsKp4AKR1WHm/Mtcvng127OSn8yOdsLGufN/um/IWncoXkBbU' +
    'U2c4FCju1zXAsC3FOCRCCSql22O5',
].map((packet) => Buffer.from(packet, 'base64'))

const SAMPLES_IN_PACKET = 960
const PACKETS_IN_PAGE = 50
const PRE_SKIP = 312

export class OggOpusWriter {
  private page = 0
  private packets = 0

  headers(): Buffer {
    const head = Buffer.alloc(19)
    head.write('OpusHead', 0)
    head.writeUInt8(1, 8)
    head.writeUInt8(1, 9)
    head.writeUInt16LE(PRE_SKIP, 10)
    head.writeUInt32LE(48000, 12)
    const vendor = 'simulator'
    const tags = Buffer.alloc(16 + vendor.length)
    tags.write('OpusTags', 0)
    tags.writeUInt32LE(vendor.length, 8)
    tags.write(vendor, 12)
    return Buffer.concat([this.pageOf([head], 2), this.pageOf([tags], 0)])
  }

  pages(units: (Syllable | undefined)[], first: number, last: boolean): Buffer {
    const packets = units.map((syllable, at) => packetFor(syllable, first + at))
    const pages: Buffer[] = []
    for (let at = 0; at < packets.length; at += PACKETS_IN_PAGE) {
      const group = packets.slice(at, at + PACKETS_IN_PAGE)
      this.packets += group.length
      const ends = last && at + PACKETS_IN_PAGE >= packets.length
      pages.push(this.pageOf(group, ends ? 4 : 0))
    }
    return Buffer.concat(pages)
  }

  private pageOf(packets: Buffer[], flags: number): Buffer {
    const header = Buffer.alloc(27 + packets.length)
    header.write('OggS', 0)
    header.writeUInt8(flags, 5)
    header.writeBigUInt64LE(BigInt(this.packets * SAMPLES_IN_PACKET), 6)
    header.writeUInt32LE(0x51a7, 14)
    header.writeUInt32LE(this.page, 18)
    header.writeUInt8(packets.length, 26)
    packets.forEach((packet, index) => {
      header.writeUInt8(packet.length, 27 + index)
    })
    this.page += 1
    const page = Buffer.concat([header, ...packets])
    page.writeUInt32LE(checksum(page), 22)
    return page
  }
}

/** Long tones repeat the middle of the recorded one. */
function packetFor(syllable: Syllable | undefined, now: number): Buffer {
  if (!syllable) return SILENCE
  if (now === syllable.start) return padded(TONE[0] ?? SILENCE, markOf(syllable))
  if (now === syllable.end - 1) return TONE[5] ?? SILENCE
  return TONE[1 + ((now - syllable.start - 1) % 4)] ?? SILENCE
}

/** Returns one frame with padding after it (RFC 6716, 3.2.5): the packet's code becomes 3. */
function padded(packet: Buffer, padding: Buffer): Buffer {
  const head = [(packet[0] ?? 0) | 0b11, 0b0100_0001, padding.length]
  return Buffer.concat([Buffer.from(head), packet.subarray(1), padding])
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24
  for (let bit = 0; bit < 8; bit += 1) {
    value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1
  }
  return value >>> 0
})

/** Returns Ogg's checksum, which unlike the usual CRC-32 is neither reflected nor inverted. */
function checksum(page: Buffer): number {
  let value = 0
  for (const byte of page) value = ((value << 8) ^ (TABLE[(value >>> 24) ^ byte] ?? 0)) >>> 0
  return value
}

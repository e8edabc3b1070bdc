// The content of a generated picture or video: a coloured card that shows the prompt and, in a
// video, the prompt as a subtitle in the lower half, so that its removal is visible.
import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import { intraPicture, pictureParameters, repeatedPicture, sequenceParameters } from './h264.ts'
import { encodeMp4, type Sample } from './mp4.ts'
import { type Colour, createPicture, fill, type Picture, write } from './picture.ts'

const FRAMES_PER_SECOND = 24
/** Above this, a new picture for every second is too expensive; the first one stays. */
const PIXELS_OF_MOVING = 2_200_000

interface Card {
  title: string
  prompt: string
  width: number
  height: number
}

export interface Film extends Card {
  /** In frames, at 24 a second. */
  frames: number
  subtitle: boolean
}

/** Returns a card filled with the prompt. */
export function paintCard(card: Card): Buffer {
  const { width, height, title, prompt } = card
  const picture = backdrop(card)
  const margin = Math.round(width / 20)
  const inner = { x: margin, width: width - 2 * margin }
  const size = Math.max(9, Math.round(height / 20))
  write(picture, title, { ...inner, y: margin, height: 2 * size }, { size: size / 2, colour: 2 })
  const below = margin + 2 * size
  const room = { ...inner, y: below, height: height - below - margin }
  write(picture, prompt, room, { size, colour: 1 })
  return encodePng(picture)
}

/** Returns one frame of a film as a PNG, for `return_last_frame`. */
export function paintFrame(film: Film, second: number): Buffer {
  return encodePng(frameOf(film, second))
}

export function encodeFilm(film: Film): Buffer {
  const { width, height, frames } = film
  const moving = width * height <= PIXELS_OF_MOVING
  const samples: Sample[] = []
  let number = 0
  for (let frame = 0; frame < frames; frame += 1) {
    const intra = frame === 0 || (moving && frame % FRAMES_PER_SECOND === 0)
    if (intra) {
      const second = frame / FRAMES_PER_SECOND
      samples.push({ data: intraPicture(frameOf(film, second), second), intra })
      number = 0
    } else {
      number += 1
      samples.push({ data: repeatedPicture(width, height, number), intra })
    }
  }
  return encodeMp4({
    width,
    height,
    samples,
    framesPerSecond: FRAMES_PER_SECOND,
    note: film,
    sequenceParameters: sequenceParameters(width, height),
    pictureParameters: pictureParameters(),
  })
}

/** Returns the picture of a second: title, a clock, a growing bar, and the subtitle. */
function frameOf(film: Film, second: number): Picture {
  const { width, height, title, prompt } = film
  const picture = backdrop(film)
  const margin = Math.round(width / 20)
  const inner = { x: margin, width: width - 2 * margin }
  const size = Math.max(9, Math.round(height / 14))
  write(picture, title, { ...inner, y: margin, height: 2 * size }, { size, colour: 1 })
  const total = Math.max(1, Math.round(film.frames / FRAMES_PER_SECOND))
  const clock = `${second} / ${total} s`
  write(picture, clock, { ...inner, y: margin + 3 * size, height: size }, { size, colour: 2 })
  const bar = { x: margin, y: margin + 5 * size, height: Math.max(2, Math.round(size / 2)) }
  fill(picture, { ...bar, width: (inner.width * (second + 1)) / total }, 2)
  if (film.subtitle) {
    const line = Math.max(9, Math.round(height / 16))
    const box = { ...inner, y: Math.round(height * 0.72), height: 3 * line }
    write(picture, prompt, box, { size: line, colour: 3 })
  }
  return picture
}

function backdrop({ prompt, width, height }: Card): Picture {
  const hue = createHash('sha256').update(prompt).digest()[0] ?? 0
  const picture = createPicture(width, height, [shade(hue), WHITE, PALE, YELLOW])
  fill(picture, { x: 0, y: 0, width, height }, 0)
  return picture
}

const WHITE = { red: 255, green: 255, blue: 255 }
const PALE = { red: 170, green: 200, blue: 220 }
const YELLOW = { red: 255, green: 225, blue: 60 }

/** Returns a dark colour of a hue from 0 to 255. */
function shade(hue: number): Colour {
  const part = (turn: number) => Math.round(50 + 40 * Math.cos((hue / 128 + turn) * Math.PI))
  return { red: part(0), green: part(2 / 3), blue: part(4 / 3) }
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function encodePng(picture: Picture): Buffer {
  const { width, height, palette, pixels } = picture
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a pixel, colour type 3: indices into the palette.
  header.set([8, 3, 0, 0, 0], 8)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y += 1) {
    rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  const colours = Buffer.from(palette.flatMap(({ red, green, blue }) => [red, green, blue]))
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(data.length, 0)
  body.copy(out, 4)
  out.writeUInt32BE(crc32(body), body.length + 4)
  return out
}

// A picture in a handful of flat colours: text is laid out in cells, a palette index per pixel.
// Flat areas keep the encoders in this folder small.
import { type Bitmap, glyphOf } from './font.ts'

export interface Colour {
  red: number
  green: number
  blue: number
}

export interface Picture {
  width: number
  height: number
  palette: Colour[]
  /** One palette index per pixel, row by row. */
  pixels: Uint8Array
}

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export function createPicture(width: number, height: number, palette: Colour[]): Picture {
  return { width, height, palette, pixels: new Uint8Array(width * height) }
}

export function fill(picture: Picture, box: Box, colour: number): void {
  const left = clamp(box.x, picture.width)
  const right = clamp(box.x + box.width, picture.width)
  for (
    let y = clamp(box.y, picture.height);
    y < clamp(box.y + box.height, picture.height);
    y += 1
  ) {
    picture.pixels.fill(colour, y * picture.width + left, y * picture.width + right)
  }
}

const clamp = (value: number, most: number): number =>
  Math.min(most, Math.max(0, Math.round(value)))

/** Writes text into a box, wrapped by characters, in lines of `size` pixels; cut if it is full. */
export function write(
  picture: Picture,
  text: string,
  box: Box,
  style: { size: number; colour: number },
): void {
  const scale = Math.max(1, Math.floor(style.size / 9))
  const lineHeight = scale * 9
  let { x, y } = box
  for (const character of text.replaceAll(/\s+/g, ' ')) {
    const glyph = glyphOf(character)
    const shrunk = glyph.rows > 7 ? Math.max(1, Math.floor(scale / 2)) : scale
    const advance = (glyph.columns + 1) * shrunk
    if (x + advance > box.x + box.width && x > box.x) {
      x = box.x
      y += lineHeight
    }
    if (y + lineHeight > box.y + box.height) return
    stamp(picture, glyph, { x, y, scale: shrunk, colour: style.colour })
    x += advance
  }
}

function stamp(
  picture: Picture,
  glyph: Bitmap,
  at: { x: number; y: number; scale: number; colour: number },
): void {
  const { scale } = at
  for (let row = 0; row < glyph.rows; row += 1) {
    for (let column = 0; column < glyph.columns; column += 1) {
      if (!glyph.set(column, row)) continue
      const [x, y] = [at.x + column * scale, at.y + row * scale]
      fill(picture, { x, y, width: scale, height: scale }, at.colour)
    }
  }
}

/** Returns the number of code points; a lone surrogate is one. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    if (isSurrogate(text, index, 0xd800) && isSurrogate(text, index + 1, 0xdc00)) count--
  }
  return count
}

function isSurrogate(text: string, index: number, first: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === first
}

/** Tricks with the outer object of a request, its members and its notation. */
import { PIXEL } from './filler.ts'
import type { Trick } from './trick.ts'

/** Inserts members at the start of the JSON text, before the effective ones. */
function prepend(text: string, members: string): string {
  return text.replace('{', `{${members},`)
}

function append(text: string, members: string): string {
  return `${text.slice(0, text.lastIndexOf('}'))},${members}}`
}

/** For every text dialect: the outer object, its members and its notation. */
export const ANYWHERE: readonly Trick[] = [
  { name: 'an unknown member', set: (big) => ({ x_note: big }) },
  { name: 'a huge key', set: (big) => ({ [`k${big}`]: 1 }) },
  {
    name: 'keys of metadata',
    set: (big) => ({ metadata: { [`m${big.slice(0, 400)}`]: big } }),
  },
  { name: 'a type that is a text', set: (big) => ({ x: { type: big } }) },
  { name: 'types at any depth', set: (big) => ({ x: [[{ y: { type: [big] } }]] }) },
  {
    name: 'a member of type image',
    set: (big) => ({ x: { type: 'image', y: big } }),
  },
  {
    name: 'many numbers',
    rewrite: (text, big) =>
      append(text, `"x_numbers":[${'7777777777,'.repeat(Math.ceil(big.length / 11))}7]`),
  },
  {
    name: 'a number with many zeros',
    rewrite: (text, big) => append(text, `"x_zero":0.${'0'.repeat(big.length)}1`),
  },
  {
    name: 'whitespace',
    rewrite: (text, big) => text.replace('{', `{${' \n\t\r'.repeat(Math.ceil(big.length / 4))}`),
  },
  { name: 'whitespace at the end', rewrite: (text, big) => text + ' '.repeat(big.length) },
  {
    name: 'escapes',
    rewrite: (text) => text.replaceAll('river', '\\u0072\\u0069\\u0076\\u0065\\u0072'),
  },
  {
    name: 'a member twice, large first',
    rewrite: (text, big) => prepend(text, `"x_twice":${JSON.stringify(big)},"x_twice":1`),
  },
  {
    name: 'an inner member twice, large first',
    rewrite: (text, big) => append(text, `"x_inner":{"y":${JSON.stringify(big)},"y":1}`),
  },
  {
    name: 'messages twice, large first',
    rewrite: (text, big) =>
      prepend(text, `"messages":[${JSON.stringify({ role: 'user', content: big })}],"input":[]`),
  },
  {
    name: 'a limit twice, small last',
    limit: 9_000,
    rewrite: (text) =>
      append(
        text,
        '"max_tokens":9000,"max_tokens":9,"max_completion_tokens":9000,"max_completion_tokens":9',
      ),
  },
  {
    name: 'a role twice in a message',
    rewrite: (text) => text.replace('"role":', '"role":"system","role":'),
  },
  {
    name: 'a content twice in a message, large first',
    rewrite: (text, big) => text.replace('"role":', `"content":${JSON.stringify(big)},"role":`),
  },
  {
    name: 'a content in another letter case',
    rewrite: (text, big) => text.replace('"role":', `"Content":${JSON.stringify(big)},"role":`),
  },
  { name: 'storage by the hour', set: () => ({ caching: { type: 'enabled' } }) },
  {
    name: 'a prototype',
    rewrite: (text, big) => append(text, `"__proto__":{"y":${JSON.stringify(big)}}`),
  },
  { name: 'a constructor', set: (big) => ({ constructor: { prototype: big } }) },
  {
    name: 'deep nesting',
    rewrite: (text) => append(text, `"x":${'['.repeat(40)}1${']'.repeat(40)}`),
  },
  { name: 'a byte order mark', rewrite: (text) => `\uFEFF${text}` },
  { name: 'empty members', set: () => ({ '': '' }) },
  {
    name: 'a media lookalike',
    set: (big) => ({ x: { image_url: { url: PIXEL + big } } }),
  },
  {
    name: 'a source lookalike',
    set: (big) => ({ x: { source: { type: 'base64', data: big } } }),
  },
]

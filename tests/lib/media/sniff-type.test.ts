import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sniffType } from '../../../server/base/lib/media/sniff-type.ts'

const CASES: [string, string][] = [
  ['\x89PNG\r\n\x1a\n....', 'image/png'],
  ['RIFF\x00\x00\x00\x00WAVEfmt ', 'audio/wav'],
  ['RIFF\x00\x00\x00\x00WEBPVP8 ', 'image/webp'],
  ['\x00\x00\x00\x20ftypisom', 'video/mp4'],
  ['\x00\x00\x00\x20ftypM4A ', 'audio/mp4'],
  ['ID3\x04', 'audio/mpeg'],
  ['\xff\xfb\x90\x00', 'audio/mpeg'],
  ['\xff\xfa\x90\x00', 'audio/mpeg'],
  ['\xff\xe3\x18\x00', 'audio/mpeg'],
  ['\xff\xf1\x50\x80', 'audio/aac'],
  ['\xff\xf8\x50\x80', 'audio/aac'],
  ['\xff\xfeh\0i\0', 'application/octet-stream'],
  ['<html><script>', 'application/octet-stream'],
  ['<svg onload=', 'application/octet-stream'],
  ['', 'application/octet-stream'],
]

test('types by the first bytes, and nothing that a browser would run', () => {
  for (const [head, type] of CASES) assert.equal(sniffType(Buffer.from(head, 'latin1')), type)
})

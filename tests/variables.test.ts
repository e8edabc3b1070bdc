/** The variables of the environment: each is read and has an effect, and nothing else is read. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listVariables, loadConfig } from '../server/api/config/config.ts'
import { listFiles, readSources } from './tidy/read-tree.ts'

const sources = readSources(listFiles()).filter(({ path }) => /^(?:server|bin)\//.test(path))
const others = sources.filter(({ path }) => !path.startsWith('server/api/config/'))
const CONFIG = 'server/api/config/config.ts'

/** Read outside the configuration, each by one file. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  // Tests alone: the gateway otherwise refuses a database that may lose what it has acknowledged.
  TRIBUTARY_TEST_UNSAFE_DATABASE: 'server/base/database/judge-server.ts',
  // Tests alone: ends the process at a named line.
  TRIBUTARY_FAIL: 'server/base/lib/process/failpoint.ts',
  // Flags of the engine that the operator has set, which stay as they are.
  NODE_OPTIONS: 'bin/lib/engine-flags.ts',
  // Errors of the command line with their stacks.
  TRIBUTARY_DEBUG: 'bin/lib/failure.ts',
  // The form of the message that says why the configuration cannot be read.
  LOG_FORMAT: 'bin/lib/notices.ts',
  // The folders in which programs of the machine are looked for.
  PATH: 'server/work/assets/sound/ffmpeg.ts',
}

/** Values for what is absent by default. */
const EVERYTHING = {
  PUBLIC_URL: 'https://gateway.example.com',
  DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/name',
  SECRET_KEY: 'a-secret-key-that-only-tests-would-ever-use',
  S3_ENDPOINT: 'http://127.0.0.1:9000',
  S3_BUCKET: 'b',
  S3_ACCESS_KEY_ID: 'i',
  S3_SECRET_ACCESS_KEY: 's',
}

function listLeaves(value: object): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const isGroup = typeof member === 'object' && member !== null && !Array.isArray(member)
    return isGroup ? listLeaves(member) : [name]
  })
}

test('every variable is read by the configuration', () => {
  const text = readFileSync(CONFIG, 'utf8')
  const unread = listVariables().filter(({ name }) => {
    return !new RegExp(`values\\.${name}\\b|\\{[^}]*\\b${name}: \\w+[^}]*\\} = values`).test(text)
  })
  assert.deepEqual(
    unread.map(({ name }) => name),
    [],
  )
})

test('every value of the configuration is used outside it', () => {
  const words = new Set(others.flatMap(({ text }) => text.match(/[\w$]+/g) ?? []))
  const unused = listLeaves(loadConfig(EVERYTHING)).filter((name) => !words.has(name))
  assert.deepEqual(unused, [])
})

test('no other variable is read', () => {
  const read = sources.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/\bprocess\.env(?:\.(\w+)|\[\s*'?(\w+))/g)]
    return names.map(([, member, index]) => `${member ?? index} in ${path}`)
  })
  const known = Object.entries(ELSEWHERE).map(([name, path]) => `${name} in ${path}`)
  assert.deepEqual(read.sort(), known.sort())
})

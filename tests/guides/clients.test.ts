import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CLIENTS } from '../../proofs/clients/clients.ts'

const path = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'clients.md')
const GUIDE = readFileSync(path, 'utf8')

/** Packages beside the client, which a program needs for its schemas or traces. */
const HELPERS =
  /^(?:zod|openai|ai|google-auth-library|@opentelemetry\/.+|@langchain\/core|llamaindex)$/

/** A client with several providers is played once for each. */
const PACKAGES = new Map(CLIENTS.map(({ id, packages }) => [id, packages]))

for (const [id, packages] of PACKAGES) {
  test(`the guide to clients names the versions that the proof plays of ${id}`, () => {
    const own = Object.entries(packages).filter(([name]) => !HELPERS.test(name))
    const versions = [...own.map(([, version]) => version), packages.openai ?? own[0]?.[1] ?? '']
    const missing = versions.filter((version) => !GUIDE.includes(version))
    assert.deepEqual(missing, [])
  })
}

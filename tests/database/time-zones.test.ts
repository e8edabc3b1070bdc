/** Names of time zones: the engine checks them, and the database computes with them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readTimeZone } from '../../server/base/lib/text/time-zone.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Abbreviations that the engine takes for places, and places of which it has older names. */
const ODD = (
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST ' +
  'SST VST CET EET MET WET EST MST HST EST5EDT PST8PDT UTC GMT UCT Zulu PRC ROC ROK NZ-CHAT Z ' +
  'US/Pacific-New SystemV/PST8PDT Etc/GMT+5 Etc/Unknown Factory localtime posixrules'
).split(' ')
/** Rules of these change by a decree each year: not everybody has the last one. */
const CHANGING = /Casablanca|El_Aaiun|SystemV/i

/** Returns how the database and the engine read a clock on a wall at that time. */
async function readClocks(zone: string, at: Date): Promise<readonly [string, string]> {
  const [row] = await database.sql<{ clock: string }[]>`
    select to_char(${at}::timestamptz at time zone ${zone}, 'YYYY-MM-DD, HH24:MI') as clock`
  const form = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
    hourCycle: 'h23',
  })
  return [row?.clock ?? '', form.format(at)]
}

test('whatever a name is, the database reads what is left of it as the engine does', async () => {
  const listed = await database.sql<{ name: string }[]>`
    select name from pg_timezone_names union select abbrev from pg_timezone_abbrevs`
  const names = [...Intl.supportedValuesOf('timeZone'), ...listed.map(({ name }) => name), ...ODD]
  const anyName = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ODD) },
    { weight: 3, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => name.toLowerCase()) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...names), fc.string()).map((a) => a.join('')),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
  )
  const time = fc.date({
    min: new Date('2024-01-01'),
    max: new Date('2026-06-01'),
    noInvalidDate: true,
  })
  await fc.assert(
    fc.asyncProperty(anyName, time, async (name, at) => {
      const zone = readTimeZone(name)
      if (zone === undefined) return
      const [database, engine] = await readClocks(zone, at)
      if (!CHANGING.test(zone)) assert.equal(database, engine, `${name}: ${zone}`)
    }),
    { numRuns: 600 },
  )
})

test('a place keeps its name, an abbreviation becomes a place, and an offset is refused', () => {
  for (const [name, expected] of [
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['UTC', 'UTC'],
    ['CET', 'Europe/Brussels'],
    ['US/Pacific-New', 'America/Los_Angeles'],
    ['Mars/Base', undefined],
    ['+08:00', undefined],
    ['', undefined],
  ] as const) {
    assert.equal(readTimeZone(name), expected, name)
  }
})

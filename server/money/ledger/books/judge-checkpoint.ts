/** Compares a signed statement with books read later. */
import type { KeyObject } from 'node:crypto'
import { formatAmount } from '../../../base/lib/money.ts'
import type { ChainSource } from './chain-source.ts'
import { isSignedBy, readOwnKey, type SignedStatement, type Statement } from './statement.ts'
import { readTotals } from './totals.ts'
import { type ChainReport, verifyChain } from './verify-chain.ts'

/**
 * `ok`: everything that the statement covers is present and unchanged. `older`: the books are an
 * earlier state than the statement. `differs`: history was changed. `forged`: the statement was not
 * signed with the key.
 */
export type CheckpointVerdict = 'ok' | 'older' | 'differs' | 'forged'

export interface Judgement {
  readonly verdict: CheckpointVerdict
  /** The differences, for display; for `older`, the missing part. */
  readonly problems: readonly string[]
  readonly blocks: number
  readonly entries: string
  /** Entries that no block, and so no statement, covers yet. */
  readonly unsealed: string
}

/**
 * Without a key the statement's own key is used, which only proves that the statement is intact.
 */
export async function judgeCheckpoint(
  signed: SignedStatement,
  source: ChainSource,
  key: KeyObject | undefined,
): Promise<Judgement> {
  if (!isSignedBy(signed, key ?? readOwnKey(signed))) {
    const problems = ['the signature does not match this key and statement']
    return { verdict: 'forged', problems, blocks: 0, entries: '0', unsealed: '0' }
  }
  const { statement } = signed
  const report = await verifyChain(source, statement.block)
  const { entries, unsealed, blocks } = report
  const found = { blocks, entries: entries.toString(), unsealed: unsealed.toString() }
  return { ...judge(statement, report), ...found }
}

function judge(
  statement: Statement,
  report: ChainReport,
): { readonly verdict: CheckpointVerdict; readonly problems: readonly string[] } {
  const rewritten = findRewritten(statement, report)
  const problems = [...report.problems, ...rewritten]
  if (problems.length > 0) return { verdict: 'differs', problems }
  if (report.blocks < statement.block) {
    return { verdict: 'older', problems: [describeOlder(statement, report)] }
  }
  const sums = compareTotals(statement, report)
  return { verdict: sums.length > 0 ? 'differs' : 'ok', problems: sums }
}

/** Returns the range in which the chain starts to contradict the statement's hashes, if any. */
function findRewritten(statement: Statement, report: ChainReport): string[] {
  const stated = [...statement.anchors, { block: statement.block, hash: statement.hash }]
  const known = stated.filter(({ block }) => block <= report.blocks)
  const first = known.find(({ block, hash }) => report.hashOf(block)?.toString('hex') !== hash)
  if (!first) return []
  const before = known.findLast(({ block }) => block < first.block)
  const from = (before && report.uptoOf(before.block)) ?? 0n
  const upto = report.uptoOf(first.block)
  return [
    `history was rewritten after the statement of ${statement.created_at}: block ${first.block} ` +
      `has another hash, so entries between ${from + 1n} and ${upto ?? 'the end'} were changed, ` +
      'removed or inserted and sealed again, or the books were restored to an earlier state ' +
      'and continued from there',
  ]
}

function describeOlder(statement: Statement, report: ChainReport): string {
  const end = report.blocks === 0 ? 'have no block' : `end with block ${report.blocks}`
  const when = report.sealedAt === undefined ? '' : `, sealed at ${report.sealedAt}`
  return (
    `the statement is newer than these books: they ${end}${when}, it covers block ` +
    `${statement.block}. The entries that are present agree with it; ` +
    `${BigInt(statement.entries) - report.entries} sealed entries are missing`
  )
}

function compareTotals(statement: Statement, report: ChainReport): string[] {
  const found = readTotals(report.totalsAtBlock)
  const names = new Set([...Object.keys(found), ...Object.keys(statement.totals)])
  return [...names].flatMap((currency) => {
    const stated = statement.totals[currency] ?? {}
    const pots = new Set([...Object.keys(found[currency] ?? {}), ...Object.keys(stated)])
    return [...pots].flatMap((pot) => {
      const amount = formatAmount(found[currency]?.[pot] ?? 0n)
      const expected = stated[pot] ?? '0'
      if (amount === expected) return []
      return [`${currency} ${pot}: the entries add up to ${amount}, the statement says ${expected}`]
    })
  })
}

/** `tributary checkpoint`: signs a statement about the books, or compares the books with one. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { readVersion } from '../../../server/api/config/version.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { openBackupChain } from '../../../server/money/ledger/books/backup-source.ts'
import { withDatabaseChain } from '../../../server/money/ledger/books/chain-source-store.ts'
import {
  type Judgement,
  judgeCheckpoint,
} from '../../../server/money/ledger/books/judge-checkpoint.ts'
import { showPublicKey } from '../../../server/money/ledger/books/signing-key.ts'
import {
  keyIdOf,
  readPublicKey,
  readSignedStatement,
  type SignedStatement,
} from '../../../server/money/ledger/books/statement.ts'
import { writeCheckpoint } from '../../../server/money/ledger/books/write-checkpoint.ts'
import { openArchivedEntries, openBackedUpEntries } from '../../lib/open-archives.ts'
import { printJson } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

interface WriteFlags {
  readonly out?: string
}

interface VerifyFlags {
  readonly publicKey?: string
  readonly backup?: string
  readonly json?: boolean
}

const VERDICTS: Readonly<Record<Judgement['verdict'], string>> = {
  ok: 'OK: everything that the checkpoint covers is present and unchanged.',
  older: 'OLDER: these books are an earlier state than the checkpoint.',
  differs: 'DIFFERS: these books do not match the checkpoint.',
  forged: 'FORGED: the checkpoint was not signed with this key, or was changed.',
}

export function addCheckpointCommands(program: Command): void {
  const checkpoint = program
    .command('checkpoint')
    .description('sign the current state of the books for later verification')
    .option('--out <file>', 'write to a new file instead of standard output')
    .addHelpText(
      'after',
      `
Everything committed so far is sealed first. Give the file to another party:
with the public key, it can verify later that history was not changed.

Examples:
  tributary checkpoint --out 2030-01-31.json
  tributary checkpoint public-key > tributary.pem
  tributary checkpoint verify 2030-01-31.json --public-key tributary.pem
  tributary checkpoint verify 2030-01-31.json --public-key tributary.pem \\
    --backup backups/today`,
    )
    .action(write)
  checkpoint
    .command('public-key')
    .description('print the public key that verifies checkpoints')
    .action(printPublicKey)
  checkpoint
    .command('verify <file>')
    .description('compare books with a checkpoint; exit code 1 unless they agree')
    .option('--public-key <file>', 'public key in PEM')
    .option('--backup <folder>', 'verify this backup instead of the database')
    .option('--json', 'as JSON')
    .action(verify)
}

async function write({ out }: WriteFlags): Promise<void> {
  // Checked before signing, so that a published checkpoint is not overwritten by accident.
  if (out !== undefined && existsSync(out)) throw new OperatorError(`${out} exists already`)
  await withSession(async ({ sql, config }) => {
    const signed = await writeCheckpoint(sql, openSecretBox(config), readVersion())
    const text = JSON.stringify(signed, null, 2)
    if (out === undefined) return console.log(text)
    writeFileSync(out, `${text}\n`, { flag: 'wx' })
    const { block, entries, key_id } = signed.statement
    console.log(`${out}: block ${block}, ${entries} entries, signed with key ${key_id}.`)
  })
}

async function printPublicKey(): Promise<void> {
  await withSession(async ({ sql, config }) => {
    const key = await showPublicKey(sql, openSecretBox(config))
    console.log(key.export({ type: 'spki', format: 'pem' }).toString().trim())
  })
}

async function verify(file: string, flags: VerifyFlags): Promise<void> {
  const signed = readSignedStatement(readText(file))
  const key = flags.publicKey === undefined ? undefined : readPublicKey(readText(flags.publicKey))
  const judgement =
    flags.backup === undefined
      ? await withSession(({ sql, config }) =>
          withDatabaseChain(
            sql,
            (source) => judgeCheckpoint(signed, source, key),
            openArchivedEntries(config),
          ),
        )
      : await judgeCheckpoint(
          signed,
          openBackupChain(flags.backup, openBackedUpEntries(flags.backup)),
          key,
        )
  if (judgement.verdict !== 'ok') process.exitCode = 1
  const { block, created_at } = signed.statement
  const keyId = key ? keyIdOf(key) : null
  if (flags.json) return printJson({ ...judgement, block, created_at, key_id: keyId })
  printJudgement(signed, judgement, keyId)
}

function printJudgement(
  { statement }: SignedStatement,
  judgement: Judgement,
  keyId: string | null,
): void {
  console.log(VERDICTS[judgement.verdict])
  for (const problem of judgement.problems) console.log(`  ${problem}`)
  const { created_at: at, block, entries, totals } = statement
  console.log(`The checkpoint of ${at} covers ${entries} entries in ${block} blocks.`)
  if (judgement.verdict !== 'forged') {
    const { blocks, unsealed } = judgement
    console.log(
      `The books have ${judgement.entries} entries in ${blocks} blocks, ${unsealed} later.`,
    )
  }
  if (judgement.verdict === 'ok') {
    for (const [currency, pots] of Object.entries(totals)) {
      const sums = Object.entries(pots).map(([pot, amount]) => `${pot} ${amount}`)
      console.log(`${currency}: ${sums.join(', ')}`)
    }
  }
  console.log(
    keyId === null
      ? 'The signer is not verified: pass the saved public key with --public-key.'
      : `Signed with key ${keyId}.`,
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`cannot read ${path}: ${why}`, { cause })
  }
}

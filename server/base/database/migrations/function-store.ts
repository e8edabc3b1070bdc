/** SQL about the files of functions. */
import type { TransactionSql } from 'postgres'

export interface FunctionFile {
  readonly name: string
  /** Rises with every change of the file. */
  readonly revision: number
  readonly text: string
  readonly sha256: string
}

type AppliedFile = Pick<FunctionFile, 'name' | 'revision' | 'sha256'>

/** Returns the files that were applied last, by name. */
export async function readAppliedFiles(
  transaction: TransactionSql,
): Promise<ReadonlyMap<string, AppliedFile>> {
  const rows = await transaction<AppliedFile[]>`select name, revision, sha256 from function_file`
  return new Map(rows.map((row) => [row.name, row]))
}

/** Applies a file and records it: both are committed, or neither. */
export async function runFunctionFile(
  transaction: TransactionSql,
  { name, revision, text, sha256 }: FunctionFile,
): Promise<void> {
  await transaction.unsafe(text)
  await transaction`
    insert into function_file (name, revision, sha256) values (${name}, ${revision}, ${sha256})
    on conflict (name) do update
    set revision = excluded.revision, sha256 = excluded.sha256, applied_at = now()`
}

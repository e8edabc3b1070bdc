/** SQL of sign-ins in progress, each valid for a few minutes and for one success. */
import type { Sql } from 'postgres'

export interface StepRow {
  readonly person_id: string | null
  readonly challenge: Buffer | null
}

const SECONDS = 600

/**
 * Also deletes expired rows. Returns false if the person has another password than the one that was
 * compared.
 */
export async function insertStep(
  sql: Sql,
  step: {
    readonly tokenHash: Buffer
    readonly personId: string | null
    readonly challenge: Buffer | null
    /** The hash of the password that was compared; absent for another proof. */
    readonly passwordHash?: string | null
  },
): Promise<boolean> {
  const { tokenHash, personId, challenge, passwordHash = null } = step
  await sql`delete from sign_in_step where expires_at < now()`
  const inserted = await sql`
    insert into sign_in_step (token_hash, person_id, challenge, expires_at)
    select ${tokenHash}, ${personId}, ${challenge}, now() + make_interval(secs => ${SECONDS})
    where ${passwordHash}::text is null or exists (
      select 1 from person where id = ${personId} and password_hash = ${passwordHash} for share)`
  return inserted.count > 0
}

export async function findStep(sql: Sql, tokenHash: Buffer): Promise<StepRow | undefined> {
  const [row] = await sql<StepRow[]>`
    select person_id, challenge from sign_in_step
    where token_hash = ${tokenHash} and expires_at > now()`
  return row
}

export async function putStepChallenge(
  sql: Sql,
  tokenHash: Buffer,
  challenge: Buffer,
): Promise<void> {
  await sql`update sign_in_step set challenge = ${challenge} where token_hash = ${tokenHash}`
}

/** Deletes the challenge and returns it: it can be tried only once. */
export async function takeStepChallenge(sql: Sql, tokenHash: Buffer): Promise<StepRow | undefined> {
  const [row] = await sql<StepRow[]>`
    with asked as (
      select token_hash, person_id, challenge from sign_in_step
      where token_hash = ${tokenHash} and expires_at > now() and challenge is not null for update
    )
    update sign_in_step s set challenge = null
    from asked where s.token_hash = asked.token_hash returning asked.person_id, asked.challenge`
  return row
}

/** Returns false if another request has completed the sign-in. */
export async function deleteStep(sql: Sql, tokenHash: Buffer): Promise<boolean> {
  const deleted = await sql`
    delete from sign_in_step where token_hash = ${tokenHash} and expires_at > now()`
  return deleted.count > 0
}

/** SQL of subjects: keys that stand for a person or a program of an issuer in an account. */
import type { Sql } from 'postgres'
import { behind, containing, equal } from '../../../base/database/conditions.ts'

export interface NewSubject {
  readonly keyId: string
  readonly hash: Buffer
  readonly issuer: string
  readonly subject: string
  readonly accountId: string
  /** The address of the member of the account; null for none. */
  readonly email: string | null
}

/**
 * Writes a subject that is new or whose member has changed. Resolves to what is missing, or to
 * undefined once the subject is stored.
 */
export async function saveSubject(
  sql: Sql,
  subject: NewSubject,
): Promise<'account' | 'member' | undefined> {
  const [found] = await sql<{ member: string | null }[]>`
    with found as (
      select a.id, (select p.id from person p join membership m on m.person_id = p.id
        where m.account_id = a.id and lower(p.email) = ${subject.email?.toLowerCase() ?? null}
          and p.disabled_at is null and (m.role = 'owner' or m.member_role = 'developer')
      ) as member
      from account a where a.id = ${subject.accountId}
    ), saved as (
      insert into api_key (id, account_id, name, hash, display, purpose, issuer, subject,
        created_by)
      select ${subject.keyId}, id, ${subject.subject}, ${subject.hash}, ${subject.issuer},
        'subject', ${subject.issuer}, ${subject.subject}, member
      from found where ${subject.email}::text is null or member is not null
      on conflict (hash) do update set created_by = excluded.created_by
        where api_key.created_by is distinct from excluded.created_by
    )
    select member from found`
  if (!found) return 'account'
  return subject.email !== null && found.member === null ? 'member' : undefined
}

export interface SubjectRow {
  /** The id of its key, under which calls are recorded. */
  readonly id: string
  readonly issuer: string
  readonly subject: string
  readonly account_id: string
  /** The address of its member; null without. */
  readonly member: string | null
  readonly state: 'active' | 'disabled'
  readonly calls: bigint
  readonly last_used_at: Date | null
  readonly created_at: Date
}

export interface SubjectFilter {
  readonly id?: string | undefined
  readonly issuer?: string | undefined
  readonly subject?: string | undefined
  /** Part of the subject or of its member's address. */
  readonly search?: string | undefined
  /** The id of the last subject of the previous page. */
  readonly after?: string | undefined
}

/** Lists subjects, the newest first. */
export function selectSubjects(
  sql: Sql,
  filter: SubjectFilter,
  limit: number,
): Promise<SubjectRow[]> {
  const { id, issuer, subject, search = null, after } = filter
  const pattern = search === null ? null : containing(search)
  return sql<SubjectRow[]>`
    select k.id, k.issuer, k.subject, k.account_id, p.email as member,
      case when k.disabled_at is null then 'active' else 'disabled' end as state,
      coalesce(u.calls, 0)::bigint as calls, u.last_used_at, k.created_at
    from api_key k left join key_use u on u.key_id = k.id
      left join person p on p.id = k.created_by
    where k.purpose = 'subject'
      ${equal(sql, { 'k.id': id, 'k.issuer': issuer, 'k.subject': subject })}
      and (${pattern}::text is null or k.subject ilike ${pattern} or p.email ilike ${pattern})
      ${behind(sql, 'api_key', after, { alias: 'k' })}
    order by k.created_at desc, k.id desc limit ${limit}`
}

/** Disables or enables subjects; the tokens of one that is disabled are refused everywhere. */
export async function updateSubjects(
  sql: Sql,
  { id, issuer, subject }: SubjectFilter,
  isDisabled: boolean,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update api_key set disabled_at = ${isDisabled ? sql`now()` : null}
    where purpose = 'subject' and (disabled_at is null) = ${isDisabled}
      ${equal(sql, { id, issuer, subject })}
    returning id`
  return rows.map((row) => row.id)
}

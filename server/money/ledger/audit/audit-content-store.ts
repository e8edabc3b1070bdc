/** Invariant of stored content: no bytes are removed while they have an owner. */
import type { Invariant, Violation } from './audit-store.ts'

const LIST_LIMIT = 20

export const contentHasOneOwner: Invariant = {
  id: 'I13',
  title: 'stored content belongs to one file, asset or archive, and is not marked for removal',
  find: (sql) => sql<Violation[]>`
    with owned as (
      select storage_key, id from file
      union all select storage_key, id from asset where storage_key is not null
      union all select storage_key, format('archive of %s', month) from archive_object
      union all select manifest_key, format('archive of %s', month) from archive
        where manifest_key is not null)
    select storage_key as subject, format('owned by %s', string_agg(id, ', ')) as found,
      'one owner' as expected
    from owned group by storage_key having count(*) > 1
    union all
    select o.id, 'content that is marked for removal', 'content of its own'
    from owned o join loose_blob l using (storage_key)
    limit ${LIST_LIMIT}`,
}

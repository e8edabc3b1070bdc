/** Whom a budget counts: a key, a member or a tag of the account. */
import { Autocomplete, Select } from '@mantine/core'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import type { BudgetDraft } from './draft.ts'
import { messages } from './messages.ts'

interface SubjectFieldProps {
  readonly draft: BudgetDraft
  readonly onChange: (subject: string) => void
}

const KEYS_OFFERED = 500

export function SubjectField({ draft, onChange }: SubjectFieldProps) {
  const { scope } = draft
  if (scope === 'member') return <MemberField draft={draft} onChange={onChange} />
  if (scope === 'key' || scope === 'tag') return <KeyField draft={draft} onChange={onChange} />
  return null
}

/** A key, or a tag that a key has. */
function KeyField({ draft, onChange }: SubjectFieldProps) {
  const t = useMessages(messages)
  const { id } = useAccount()
  const error = useFieldError('subject')
  const request = { params: { account_id: id }, query: { limit: KEYS_OFFERED } }
  const { data } = useAdmin('GET /accounts/:account_id/keys', request)
  const keys = data?.data ?? []
  if (draft.scope === 'tag') {
    const tags = keys.flatMap((key) => [...key.tags, ...key.required_tags])
    return (
      <Autocomplete
        label={t('tag')}
        description={t('tagHint')}
        withAsterisk
        data={[...new Set(tags)].sort()}
        error={error}
        value={draft.subject}
        onChange={onChange}
      />
    )
  }
  const options = keys
    .filter((key) => key.replaced_by === null)
    .map((key) => ({
      value: key.id,
      label: key.name ? `${key.name} · ${key.display}` : key.display,
    }))
  const isKnown = draft.subject === '' || options.some(({ value }) => value === draft.subject)
  return (
    <Select
      label={t('key')}
      withAsterisk
      searchable
      data={isKnown ? options : [...options, { value: draft.subject, label: draft.subject }]}
      error={error}
      value={draft.subject || null}
      onChange={(key) => onChange(key ?? '')}
    />
  )
}

function MemberField({ draft, onChange }: SubjectFieldProps) {
  const t = useMessages(messages)
  const { id } = useAccount()
  const { data } = useAdmin('GET /accounts/:account_id/members', { params: { account_id: id } })
  return (
    <Select
      label={t('member')}
      withAsterisk
      searchable
      data={(data?.data ?? []).map(({ email, name }) => ({
        value: email,
        label: name ? `${name} · ${email}` : email,
      }))}
      error={useFieldError('subject')}
      value={draft.subject || null}
      onChange={(member) => onChange(member ?? '')}
    />
  )
}

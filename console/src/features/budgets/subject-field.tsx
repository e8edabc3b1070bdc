/** Whom a budget counts: a key, a member or a tag of the account. */
import { Autocomplete, Select } from '@mantine/core'
import { useKeyChoice } from '../../components/fields/use-key-choice.ts'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { byLabelOrValue } from '../../components/list/filters.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import type { BudgetDraft } from './draft.ts'
import { messages } from './messages.ts'

interface SubjectFieldProps {
  readonly draft: BudgetDraft
  readonly onChange: (subject: string) => void
}

export function SubjectField({ draft, onChange }: SubjectFieldProps) {
  const { scope } = draft
  if (scope === 'member') return <MemberField draft={draft} onChange={onChange} />
  if (scope === 'key' || scope === 'tag') return <KeyField draft={draft} onChange={onChange} />
  return null
}

/** A key, or a tag that a key has. */
function KeyField({ draft, onChange }: SubjectFieldProps) {
  const t = useMessages(messages)
  const error = useFieldError('subject')
  const { keys, options, onSearch } = useKeyChoice(draft.scope === 'key' ? draft.subject : '')
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
  return (
    <Select
      label={t('key')}
      withAsterisk
      allowDeselect={false}
      searchable
      data={options.filter(({ value, isReplaced }) => !isReplaced || value === draft.subject)}
      onSearchChange={onSearch}
      filter={byLabelOrValue}
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
      allowDeselect={false}
      searchable
      limit={200}
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

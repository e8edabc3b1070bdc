/** The fields of a key, for creating and for changing one. */
import { NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { ModelsInput } from '../../components/fields/models-input.tsx'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { fromLocalField, toLocalField } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { plainNumber } from '../../lib/nanos.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import type { ApiKey } from './api-key.ts'
import { messages } from './messages.ts'

/** Values of the fields while they are edited. */
export interface KeyDraft {
  readonly name: string
  readonly models: readonly string[]
  readonly spendLimit: string
  /** Local time without a zone, the format of the browser's input. */
  readonly expiresAt: string
  readonly requestsPerMinute: string
  readonly tokensPerMinute: string
  readonly concurrentCalls: string
  readonly tags: readonly string[]
  readonly requiredTags: readonly string[]
  readonly allowTags: boolean
  readonly costInAnswers: boolean
  readonly allowedIps: readonly string[]
  /** The id of the member to whom it belongs; empty: the account's own. */
  readonly member: string
}

export const EMPTY_DRAFT: KeyDraft = {
  name: '',
  models: [],
  spendLimit: '',
  expiresAt: '',
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrentCalls: '',
  tags: [],
  requiredTags: [],
  allowTags: false,
  costInAnswers: false,
  allowedIps: [],
  member: '',
}

export function toKeyDraft(key: ApiKey): KeyDraft {
  return {
    name: key.name,
    models: key.models ?? [],
    spendLimit: key.spend_limit ?? '',
    expiresAt: key.expires_at ? toLocalField(new Date(key.expires_at)) : '',
    requestsPerMinute: String(key.limits.requests_per_minute ?? ''),
    tokensPerMinute: String(key.limits.tokens_per_minute ?? ''),
    concurrentCalls: String(key.limits.concurrent_calls ?? ''),
    tags: key.tags,
    requiredTags: key.required_tags,
    allowTags: key.allow_tags,
    costInAnswers: key.cost_in_answers,
    allowedIps: key.allowed_ips,
    member: key.member?.user_id ?? '',
  }
}

/** Returns the request body; an empty field means no limit. Developers' keys are their own. */
export function toKeyBody(draft: KeyDraft, isOwner: boolean) {
  const count = (text: string) => (text === '' ? null : Number(text))
  return {
    name: draft.name,
    models: draft.models.length > 0 ? [...draft.models] : null,
    spend_limit: plainNumber(draft.spendLimit) || null,
    expires_at: fromLocalField(draft.expiresAt) || null,
    limits: {
      requests_per_minute: count(draft.requestsPerMinute),
      tokens_per_minute: count(draft.tokensPerMinute),
      concurrent_calls: count(draft.concurrentCalls),
    },
    tags: [...draft.tags],
    required_tags: [...draft.requiredTags],
    allow_tags: draft.allowTags,
    cost_in_answers: draft.costInAnswers,
    allowed_ips: [...draft.allowedIps],
    ...(isOwner ? { member: draft.member || null } : {}),
  }
}

interface KeyFieldsProps {
  readonly draft: KeyDraft
  readonly currency: string
  readonly onChange: (draft: KeyDraft) => void
}

export function KeyFields({ draft, currency, onChange }: KeyFieldsProps) {
  const t = useMessages(messages)
  const change = (changes: Partial<KeyDraft>) => onChange({ ...draft, ...changes })
  return (
    <>
      <TextInput
        label={t('name')}
        description={t('nameHint')}
        error={useFieldError('name')}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        data-autofocus
      />
      <ModelsInput
        label={t('models')}
        description={t('modelsHint')}
        placeholder={t('everyModel')}
        error={useFieldError('models')}
        value={draft.models}
        onChange={(models) => change({ models })}
      />
      <TextInput
        label={t('spendLimit')}
        description={t('spendLimitHint', { currency })}
        placeholder={t('noLimit')}
        inputMode="decimal"
        error={useFieldError('spend_limit')}
        value={draft.spendLimit}
        onChange={(event) => change({ spendLimit: event.currentTarget.value })}
      />
      <CheckedRow
        fields={[
          { param: 'limits.requests_per_minute', label: t('requestsPerMinute') },
          { param: 'limits.tokens_per_minute', label: t('tokensPerMinute') },
          { param: 'limits.concurrent_calls', label: t('concurrentCalls') },
        ]}
        grow
      >
        <LimitInput
          param="limits.requests_per_minute"
          label={t('requestsPerMinute')}
          value={draft.requestsPerMinute}
          onChange={(requestsPerMinute) => change({ requestsPerMinute })}
        />
        <LimitInput
          param="limits.tokens_per_minute"
          label={t('tokensPerMinute')}
          value={draft.tokensPerMinute}
          onChange={(tokensPerMinute) => change({ tokensPerMinute })}
        />
        <LimitInput
          param="limits.concurrent_calls"
          label={t('concurrentCalls')}
          value={draft.concurrentCalls}
          onChange={(concurrentCalls) => change({ concurrentCalls })}
        />
      </CheckedRow>
      <TextInput
        type="datetime-local"
        label={t('expires')}
        error={useFieldError('expires_at')}
        value={draft.expiresAt}
        onChange={(event) => change({ expiresAt: event.currentTarget.value })}
      />
      <LabelFields draft={draft} onChange={change} />
    </>
  )
}

interface HolderFieldProps {
  readonly member: string
  readonly onChange: (member: string) => void
}

/** Lets an owner say to whom a key belongs. */
function HolderField({ member, onChange }: HolderFieldProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const { data } = useAdmin('GET /accounts/:account_id/members', {
    params: { account_id: account.id },
  })
  const error = useFieldError('member')
  if (!account.isOwner) return null
  const people = (data?.data ?? []).filter(({ role }) => role === 'owner' || role === 'developer')
  return (
    <Select
      label={t('belongsTo')}
      description={t('belongsToHint')}
      error={error}
      searchable={people.length > 8}
      limit={200}
      data={[
        { value: '', label: t('theAccount') },
        ...people.map(({ id, name, email }) => ({ value: id, label: name || email })),
      ]}
      value={member}
      onChange={(value) => onChange(value ?? '')}
      allowDeselect={false}
    />
  )
}

interface LabelFieldsProps {
  readonly draft: KeyDraft
  readonly onChange: (changes: Partial<KeyDraft>) => void
}

/** The fields of the holder, addresses and tags, and whether answers state their charge. */
function LabelFields({ draft, onChange }: LabelFieldsProps) {
  const t = useMessages(messages)
  return (
    <>
      <HolderField member={draft.member} onChange={(member) => onChange({ member })} />
      <TagsInput
        label={t('allowedIps')}
        description={t('allowedIpsHint')}
        placeholder="10.0.0.0/8"
        error={useFieldError('allowed_ips')}
        value={[...draft.allowedIps]}
        onChange={(allowedIps) => onChange({ allowedIps })}
      />
      <TagsInput
        label={t('tags')}
        description={t('tagsHint')}
        error={useFieldError('tags')}
        value={[...draft.tags]}
        onChange={(tags) => onChange({ tags })}
      />
      <TagsInput
        label={t('requiredTags')}
        description={t('requiredTagsHint')}
        error={useFieldError('required_tags')}
        value={[...draft.requiredTags]}
        onChange={(requiredTags) => onChange({ requiredTags })}
      />
      <Switch
        label={t('allowTags')}
        checked={draft.allowTags}
        onChange={(event) => onChange({ allowTags: event.currentTarget.checked })}
      />
      <Switch
        label={t('costInAnswers')}
        description={t('costInAnswersHint')}
        checked={draft.costInAnswers}
        onChange={(event) => onChange({ costInAnswers: event.currentTarget.checked })}
      />
    </>
  )
}

interface LimitInputProps {
  readonly param: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function LimitInput({ param, label, value, onChange }: LimitInputProps) {
  const t = useMessages(messages)
  return (
    <NumberInput
      label={label}
      placeholder={t('noLimit')}
      min={1}
      allowDecimal={false}
      error={useFieldError(param)}
      value={value}
      onChange={(count) => onChange(String(count))}
    />
  )
}

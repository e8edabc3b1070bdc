/** Creates a price list, or changes one. */
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { InvalidFields } from '../../components/form/invalid-field.ts'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { checkList, type EditedList, NEW_LIST, toListBody, toListDraft } from './draft.ts'
import { ListFields } from './list-fields.tsx'
import { ListSelect } from './list-select.tsx'
import { messages } from './messages.ts'
import { BASE_LIST } from './price-cell.tsx'

/** A list that was saved, and its prices below cost. */
export interface SavedList {
  readonly id: string
  readonly warnings: readonly string[]
}

interface ListFormProps {
  /** Absent for a new one. */
  readonly stored?: EditedList
  readonly onSaved: (saved: SavedList) => void
  readonly onClose: () => void
}

export function ListForm({ stored, onSaved, onClose }: ListFormProps) {
  const t = useMessages(messages)
  const [id, setId] = useState(stored?.id ?? '')
  const [currency, setCurrency] = useState(stored?.currency ?? 'CNY')
  const [parent, setParent] = useState(stored?.parent ?? BASE_LIST)
  const [list, setList] = useState(() => (stored ? toListDraft(stored) : NEW_LIST))
  // As it was opened: what others change meanwhile is read again, but is not in this form.
  const [revision] = useState(stored?.revision)
  const change = useAdminChange('PUT /operator/price-lists/:list_id')
  const send = async () => {
    const noId = id.trim() === '' ? [{ param: 'id', text: t('needed') }] : []
    const wrong = [...noId, ...checkList(list, t)]
    if (wrong.length > 0) throw new InvalidFields(wrong)
    const saved = await change.mutateAsync({
      params: { list_id: id.trim() },
      body: { ...toListBody(list), currency, parent },
      isNew: stored === undefined,
      revision,
    })
    notifyDone(t('made', { id: saved.id }))
    onSaved(saved)
  }
  return (
    <CheckedSubmitForm act={t(stored ? 'save' : 'create')} onSend={send} onCancel={onClose}>
      {stored ? null : (
        <>
          <CheckedField param="id">
            {(error) => (
              <TextInput
                label={t('id')}
                description={t('idHint')}
                withAsterisk
                maxLength={64}
                data-autofocus
                error={error}
                value={id}
                onChange={({ currentTarget }) => setId(currentTarget.value)}
              />
            )}
          </CheckedField>
          <CheckedField param="currency">
            {(error) => (
              <TextInput
                label={t('currency')}
                description={t('currencyHint')}
                error={error}
                value={currency}
                onChange={({ currentTarget }) =>
                  setCurrency(currentTarget.value.normalize('NFKC').toUpperCase())
                }
              />
            )}
          </CheckedField>
          <ListSelect
            param="parent"
            label={t('parent')}
            description={t('parentHint')}
            currency={currency}
            value={parent}
            onChange={setParent}
          />
        </>
      )}
      <ListFields list={list} onChange={setList} />
    </CheckedSubmitForm>
  )
}

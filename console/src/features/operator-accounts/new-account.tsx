/** Dialog that creates an account, with an optional opening balance. */
import { Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { CurrencyNote } from '../../components/form/currency-note.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { plainNumber } from '../../lib/nanos.ts'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { SameNameNote } from './same-name-note.tsx'

interface NewAccountProps {
  /** `new`, or the currency to begin with; empty: closed. */
  readonly adding: string
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

export function NewAccountDialog({ adding, onClose, onCreated }: NewAccountProps) {
  const t = useMessages(messages)
  return (
    <Dialog isOpen={adding !== ''} onClose={onClose} title={t('newAccount')}>
      <Form
        initial={/^[A-Z]{3}$/.test(adding) ? adding : 'CNY'}
        onCreated={onCreated}
        onClose={onClose}
      />
    </Dialog>
  )
}

interface FormProps extends Pick<NewAccountProps, 'onClose' | 'onCreated'> {
  /** The currency to begin with. */
  readonly initial: string
}

function Form({ initial, onClose, onCreated }: FormProps) {
  const t = useMessages(messages)
  const change = useAdminChange('POST /operator/accounts', {
    refreshes: ['GET /operator/accounts'],
  })
  const [name, setName] = useState('')
  const [currency, setCurrency] = useState(initial)
  const [balance, setBalance] = useState('')
  const send = async () => {
    const opening = plainNumber(balance)
    const body = { name, currency, ...(opening === '' ? {} : { balance: opening }) }
    const created = await change.mutateAsync({ body })
    notifyDone(t('createdDone', { name: created.name }))
    onCreated(created.id)
  }
  return (
    <CheckedSubmitForm act={t('create')} onSend={send} onCancel={onClose}>
      <CheckedField param="name">
        {(error) => (
          <TextInput
            label={t('name')}
            description={<SameNameNote name={name} />}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            required
            maxLength={200}
            data-autofocus
            error={error}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </CheckedField>
      <Group grow align="flex-start">
        <CheckedField param="currency">
          {(error) => (
            <TextInput
              label={t('currency')}
              description={<CurrencyNote currency={currency} />}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              required
              error={error}
              value={currency}
              onChange={({ currentTarget }) =>
                setCurrency(currentTarget.value.normalize('NFKC').toUpperCase())
              }
            />
          )}
        </CheckedField>
        <CheckedField param="balance">
          {(error) => (
            <TextInput
              label={t('openingBalance')}
              inputMode="decimal"
              placeholder="0"
              error={error}
              value={balance}
              onChange={({ currentTarget }) => setBalance(currentTarget.value)}
            />
          )}
        </CheckedField>
      </Group>
    </CheckedSubmitForm>
  )
}

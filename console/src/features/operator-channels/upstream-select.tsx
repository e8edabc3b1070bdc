/** The choice of a protocol: its name, and what it is for, which a closed list would cut off. */
import { Select, Stack, Text } from '@mantine/core'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { messages as words } from './upstream-messages.ts'

type Word = keyof (typeof words)['en']

const isWord = (key: string): key is Word => Object.hasOwn(words.en, key)

interface UpstreamSelectProps {
  readonly upstreams: readonly { readonly name: string; readonly serves: readonly string[] }[]
  readonly value: string
  readonly onChange: (name: string) => void
}

export function UpstreamSelect({ upstreams, value, onChange }: UpstreamSelectProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const say = (key: string, absent: string) => (isWord(key) ? words[language][key] : absent)
  const textOf = (name: string) => {
    const served = upstreams.find((one) => one.name === name)?.serves.join(', ') ?? ''
    return say(`text_${name}`, served)
  }
  return (
    <Select
      label={t('upstream')}
      description={textOf(value)}
      inputWrapperOrder={['label', 'input', 'description']}
      data={upstreams.map(({ name }) => ({ value: name, label: say(`name_${name}`, name) }))}
      renderOption={({ option }) => (
        <Stack gap={0}>
          <Text size="sm">{option.label}</Text>
          <Text size="xs" c="dimmed">
            {textOf(option.value)}
          </Text>
        </Stack>
      )}
      maxDropdownHeight={360}
      value={value}
      allowDeselect={false}
      searchable
      onChange={(chosen) => onChange(chosen ?? value)}
    />
  )
}

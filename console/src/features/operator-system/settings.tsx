/** The environment variables: all, those that a search finds, or those that were changed. */
import { Box, Switch, Text } from '@mantine/core'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters, TextFilter } from '../../components/list/filters.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { CodeText } from '../../components/text/code-text.tsx'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { Language } from '../../lib/language.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { messages } from './messages.ts'
import classes from './settings.module.css'
import type { System } from './system.ts'
import { VARIABLES_IN_CHINESE } from './variables-in-chinese.ts'

type Variable = System['configuration'][number]

export function Variables({ variables }: { readonly variables: readonly Variable[] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { values, set } = useUrlState(['search', 'changed'])
  const onlyChanged = values.changed === 'true'
  const described = variables.map((one) => ({ ...one, description: describe(one, language) }))
  const shown = described.filter(
    (one) => (one.changed || !onlyChanged) && isFound(one, values.search),
  )
  return (
    <>
      <Filters>
        <TextFilter
          label={t('searchSettings')}
          value={values.search}
          onChange={(search) => set({ search })}
        />
        <Switch
          size="xs"
          label={t('onlyChanged')}
          checked={onlyChanged}
          onChange={({ currentTarget }) => set({ changed: currentTarget.checked ? 'true' : '' })}
        />
      </Filters>
      <Panel flush>
        {shown.length === 0 ? (
          // Without a search there is nothing to find: all values are the defaults.
          <FilteredEmpty
            icon="check"
            isFiltered={values.search !== ''}
            onClear={() => set({ search: '', changed: '' })}
            title={t('allDefault')}
          />
        ) : (
          <>
            <dl className={classes.list} aria-label={t('settings')}>
              {shown.map((one) => (
                <Setting key={one.name} variable={one} />
              ))}
            </dl>
            <Text size="xs" c="dimmed" className={classes.foot}>
              {t('shownOf', {
                count: formatNumber(shown.length, language),
                all: formatNumber(variables.length, language),
              })}
            </Text>
          </>
        )}
      </Panel>
    </>
  )
}

function Setting({ variable }: { readonly variable: Variable }) {
  const t = useMessages(messages)
  const { name, value, changed, description } = variable
  return (
    <div className={classes.setting}>
      <dt>
        <Text size="sm" ff="monospace" className={classes.name}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          <CodeText text={description} />
        </Text>
      </dt>
      <dd className={classes.value}>
        <Text size="sm" ff="monospace" {...(changed ? { fw: 600 } : {})}>
          {value === '' ? '–' : value}
        </Text>
        {changed ? (
          <Box fz="xs" c="dimmed">
            {t('defaultIs', { value: variable.default === '' ? '–' : variable.default })}
          </Box>
        ) : null}
      </dd>
    </div>
  )
}

function describe({ name, description }: Variable, language: Language): string {
  return language === 'zh' ? (VARIABLES_IN_CHINESE[name] ?? description) : description
}

function isFound({ name, value, description }: Variable, search: string): boolean {
  return `${name} ${value} ${description}`.toLowerCase().includes(search.toLowerCase())
}

// Asks the server for the plan of the changes in the form: the difference in money, or what is
// wrong with which field.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../call.ts'
import { type Action, catalogueSet } from '../command/actions.ts'
import { NO_VALUES, type Plan, useCommandError } from '../command/Command.tsx'
import { changesOf, problemsOf, type Values } from './fields.ts'

type Planned = { readonly action: Action; readonly plan: Plan }

type State = {
  readonly planned?: Planned
  /** By field, in the server's words. */
  readonly byField: Readonly<Record<string, string>>
  /** About the form as a whole. */
  readonly problem?: string
}

const NOTHING: State = { byField: {} }

export function usePlan(initial: Values) {
  const { t } = useTranslation()
  const commandError = useCommandError()
  const [state, setState] = useState(NOTHING)

  function showRefusal(error: unknown): void {
    const text = commandError(error)
    if (text === undefined) throw error
    const { byField, others } = problemsOf(text, initial)
    const [first] = Object.keys(byField)
    if (first !== undefined) document.getElementsByName(first)[0]?.focus()
    const intro = first === undefined ? [] : [t('console.catalogueEdit.wrong')]
    setState({ byField, problem: [...intro, ...others].join('\n') })
  }

  return {
    ...state,
    close: () => setState(NOTHING),
    async send(values: Values): Promise<void> {
      setState(NOTHING)
      const changes = changesOf(initial, values)
      if (changes.length === 0) {
        setState({ ...NOTHING, problem: t('console.catalogueEdit.unchanged') })
        return
      }
      const note = String(values.note).trim()
      const options = { note, ...(values.below === true && { sellBelowCost: true as const }) }
      const action = catalogueSet(changes, options)
      const body = action.command('', NO_VALUES, '')
      try {
        const answer = await call('POST /api/commands', { body })
        if (answer.state === 'plan') setState({ ...NOTHING, planned: { action, plan: answer } })
        else setState({ ...NOTHING, problem: answer.lines.join('\n') })
      } catch (error) {
        showRefusal(error)
      }
    },
  }
}

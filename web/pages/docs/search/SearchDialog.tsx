// The search of the documentation: a field, and below it the results, which the arrow keys go
// through while the focus stays in the field.

import { indexes } from 'virtual:docs'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Search as Icon, X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loadChunk } from '../../../runtime/chunk.ts'
import { useErrorText } from '../../../runtime/errors.ts'
import { currentLanguage } from '../../../runtime/language.ts'
import type { Language } from '../../../runtime/preferences.ts'
import { Banner } from '../../../ui/Banner.tsx'
import { classes } from '../../../ui/classes.ts'
import { useFocusReturn } from '../../../ui/dialog/focus-return.ts'
import { createFind, type Find } from './find.ts'
import type { Found } from './terms.ts'

export function SearchDialog(props: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { isOpen, onClose } = props
  const { t } = useTranslation()
  const focusReturn = useFocusReturn(isOpen)
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 bg-veil" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={focusReturn}
          className="appear fixed inset-x-0 top-0 z-50 mx-auto flex max-h-dvh flex-col
            overflow-hidden border border-line bg-sheet sm:top-[8vh] sm:max-h-[80vh] sm:w-[42rem]
            sm:max-w-[94vw] sm:rounded-box"
        >
          <Radix.Title className="sr-only">{t('docs.search')}</Radix.Title>
          <Results onClose={onClose} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function Results({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const router = useRouter()
  const id = useId()
  const [question, setQuestion] = useState('')
  const [at, setAt] = useState(0)
  const index = useQuery(indexQuery(currentLanguage()))
  const found = useFound(index.data?.find, question)
  const current = found?.[Math.min(at, found.length - 1)]
  const optionId = (one: Found) => `${id}-${one.id}`
  const listId = `${id}-list`
  useEffect(() => {
    if (current === undefined) return
    document.getElementById(`${id}-${current.id}`)?.scrollIntoView({ block: 'nearest' })
  }, [current, id])

  const open = (one: Found) => {
    onClose()
    router.history.push(one.id)
  }
  const move = (event: KeyboardEvent) => {
    const count = found?.length ?? 0
    if (event.key === 'Enter' && current !== undefined) return open(current)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || count === 0) return
    event.preventDefault()
    setAt((before) => (Math.min(before, count - 1) + step + count) % count)
  }
  return (
    <>
      <Field
        question={question}
        onChange={(typed) => {
          setQuestion(typed)
          setAt(0)
        }}
        onKeyDown={move}
        listId={listId}
        hasResults={found !== undefined && found.length > 0}
        currentId={current === undefined ? undefined : optionId(current)}
      />
      {index.isError && (
        <div className="p-4">
          <Banner tone="bad">{errorText(index.error)}</Banner>
        </div>
      )}
      <div id={listId} role="listbox" aria-label={t('docs.results')} className="overflow-y-auto">
        {found?.map((one) => (
          <Result
            key={one.id}
            id={optionId(one)}
            found={one}
            isCurrent={one === current}
            onOpen={() => open(one)}
          />
        ))}
      </div>
      <p role="status" className="px-4 py-3 text-sm text-soft">
        {found === undefined ? t('docs.searchHelp') : t('docs.found', { count: found.length })}
      </p>
    </>
  )
}

const indexQuery = (language: Language) =>
  queryOptions({
    queryKey: ['docs-search', language],
    queryFn: async () => ({ find: createFind((await loadChunk(indexes[language])).index) }),
    staleTime: Number.POSITIVE_INFINITY,
  })

function Field(props: {
  readonly question: string
  readonly onChange: (typed: string) => void
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly listId: string
  readonly hasResults: boolean
  readonly currentId: string | undefined
}) {
  const { question, onChange, onKeyDown, listId, hasResults, currentId } = props
  const { t } = useTranslation()
  return (
    <div className="flex items-center gap-3 border-b border-line px-4">
      <Icon aria-hidden className="size-5 shrink-0 text-soft" />
      <input
        role="combobox"
        aria-label={t('docs.search')}
        aria-expanded={hasResults}
        aria-controls={listId}
        aria-autocomplete="list"
        {...(currentId === undefined ? {} : { 'aria-activedescendant': currentId })}
        type="search"
        autoComplete="off"
        spellCheck={false}
        placeholder={t('docs.searchHint')}
        value={question}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={onKeyDown}
        className="min-h-14 min-w-0 flex-1 appearance-none bg-transparent outline-none
          placeholder:text-soft [&::-webkit-search-cancel-button]:hidden"
      />
      <Radix.Close
        aria-label={t('action.close')}
        className="-me-2 grid size-9 shrink-0 place-items-center rounded-part text-soft
          hover:bg-sunk hover:text-ink"
      >
        <X aria-hidden className="size-5" />
      </Radix.Close>
    </div>
  )
}

/** Undefined while nothing is asked, or until the index is there. */
function useFound(find: Find | undefined, question: string): readonly Found[] | undefined {
  const asked = useDeferredValue(question.trim())
  const [found, setFound] = useState<readonly Found[]>()
  useEffect(() => {
    setFound(find === undefined || asked === '' ? undefined : find(asked))
  }, [find, asked])
  return found
}

function Result(props: {
  readonly id: string
  readonly found: Found
  readonly isCurrent: boolean
  readonly onOpen: () => void
}) {
  const { id, found, isCurrent, onOpen } = props
  return (
    // The keyboard reaches it through the field: see `move`.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see the line above.
    // biome-ignore lint/a11y/useFocusableInteractive: see the line above.
    <div
      id={id}
      role="option"
      aria-selected={isCurrent}
      data-address={found.id}
      onClick={onOpen}
      className={classes(
        'grid cursor-pointer gap-0.5 border-b border-line px-4 py-3 hover:bg-sunk',
        isCurrent && 'bg-tint hover:bg-tint',
      )}
    >
      <span className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium wrap-anywhere">{found.title}</span>
        <span className="text-xs text-soft">{found.place}</span>
      </span>
      {/* The build has shortened it; a clamp would cut it in large type. */}
      <span className="text-sm text-soft wrap-anywhere">{found.text}</span>
    </div>
  )
}

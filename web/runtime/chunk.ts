// Loads the chunk of a page. When a chunk cannot be fetched, the router's own loader reloads the
// whole page: right after an update, which removes old chunks, but without a connection the browser
// then replaces the application by its error page.
import { ApiRefusal, addressOf } from './api.ts'

/** The module; throws `offline` if the server cannot be reached, else the browser's error. */
export async function loadChunk<Module>(importer: () => Promise<Module>): Promise<Module> {
  try {
    return await importer()
  } catch (error) {
    if (await isServerReachable()) throw error
    throw new ApiRefusal('offline', 0)
  }
}

async function isServerReachable(): Promise<boolean> {
  try {
    await fetch(addressOf('/api/brand'), { cache: 'no-store' })
    return true
  } catch {
    return false
  }
}

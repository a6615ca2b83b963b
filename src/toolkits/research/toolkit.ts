import { defineToolkit } from '../../contract/toolkit.ts';
import { tellAgent } from './privacy/tell-agent.ts';
import { connectResearch, type ResearchServices } from './services.ts';
import { addSource } from './tools/add-source.ts';
import { analyzeContentForCodes } from './tools/analyze-content-for-codes.ts';
import { analyzeUncodedText } from './tools/analyze-uncoded-text.ts';
import { applyCode } from './tools/apply-code.ts';
import { approveBatchCoding } from './tools/approve-batch-coding.ts';
import { approveCodingSuggestion } from './tools/approve-coding-suggestion.ts';
import { approveMerge } from './tools/approve-merge.ts';
import { approveSuggestion } from './tools/approve-suggestion.ts';
import { autoCodePattern } from './tools/auto-code-pattern.ts';
import { autoCodeSpeaker } from './tools/auto-code-speaker.ts';
import { autoSuggestCodes } from './tools/auto-suggest-codes.ts';
import { batchApplyCodes } from './tools/batch-apply-codes.ts';
import { closeProject } from './tools/close-project.ts';
import { createCode } from './tools/create-code.ts';
import { createProject } from './tools/create-project.ts';
import { deleteCode } from './tools/delete-code.ts';
import { detectDuplicateCodes } from './tools/detect-duplicate-codes.ts';
import { findSimilarContent } from './tools/find-similar-content.ts';
import { getCode } from './tools/get-code.ts';
import { getProjectContext } from './tools/get-project-context.ts';
import { getSuggestionBatchStatus } from './tools/get-suggestion-batch-status.ts';
import { importFiles } from './tools/import-files.ts';
import { listCodes } from './tools/list-codes.ts';
import { listPendingCodingSuggestions } from './tools/list-pending-coding-suggestions.ts';
import { listPendingSuggestions } from './tools/list-pending-suggestions.ts';
import { listSegmentsForSource } from './tools/list-segments-for-source.ts';
import { listSources } from './tools/list-sources.ts';
import { mergeCodes } from './tools/merge-codes.ts';
import { navigateToSegment } from './tools/navigate-to-segment.ts';
import { openProject } from './tools/open-project.ts';
import { readSourceContent } from './tools/read-source-content.ts';
import { rejectCodingSuggestion } from './tools/reject-coding-suggestion.ts';
import { removeCoding } from './tools/remove-coding.ts';
import { setPseudonym } from './tools/set-pseudonym.ts';
import { setSourceAccess } from './tools/set-source-access.ts';
import { suggestBatchCoding } from './tools/suggest-batch-coding.ts';
import { suggestCodeApplication } from './tools/suggest-code-application.ts';
import { suggestCodesForRange } from './tools/suggest-codes-for-range.ts';
import { suggestMergeCodes } from './tools/suggest-merge-codes.ts';
import { suggestNewCode } from './tools/suggest-new-code.ts';
import { suggestSourceMetadata } from './tools/suggest-source-metadata.ts';
import { undoChange } from './tools/undo-change.ts';
import { updateCode } from './tools/update-code.ts';
import { updateSourceMetadata } from './tools/update-source-metadata.ts';
import { views } from './views/index.ts';

export const toolkit = defineToolkit<ResearchServices>({
  id: 'research',
  title: 'Qualitative research',
  dialect: 'qualcoder',
  tools: [
    getProjectContext,
    listSources,
    readSourceContent,
    navigateToSegment,
    suggestSourceMetadata,
    listCodes,
    getCode,
    batchApplyCodes,
    listSegmentsForSource,
    analyzeContentForCodes,
    suggestNewCode,
    listPendingSuggestions,
    approveSuggestion,
    detectDuplicateCodes,
    suggestMergeCodes,
    approveMerge,
    suggestCodeApplication,
    listPendingCodingSuggestions,
    approveCodingSuggestion,
    rejectCodingSuggestion,
    analyzeUncodedText,
    suggestCodesForRange,
    autoSuggestCodes,
    getSuggestionBatchStatus,
    approveBatchCoding,
    findSimilarContent,
    suggestBatchCoding,
    createCode,
    updateCode,
    deleteCode,
    mergeCodes,
    removeCoding,
    addSource,
    autoCodePattern,
    autoCodeSpeaker,
    // In no profile: what suggestions wait for, and what only people do.
    applyCode,
    updateSourceMetadata,
    undoChange,
    openProject,
    createProject,
    closeProject,
    importFiles,
    setSourceAccess,
    setPseudonym,
  ],
  views,
  jobs: ({ reading }) => [{ name: 'research: read sources', run: (signal) => reading.run(signal) }],
  tellAgent,
  connect: async (host) => connectResearch(host),
  async close(services) {
    await services.reading.close();
    await services.analysis.close();
    services.projects.shutDown();
  },
});

/** The toolkit's own tables, as migration 020-dev makes them. */
export interface DevTables {
  dev_runs: {
    run_id: string;
    repo: string;
    forge: string;
    /** Git folder of a clone that no name is registered for. */
    clone: string | null;
    purpose: string;
    created_at: string;
    created_by: string;
    call_id: string;
    base_branch: string | null;
    base_commit: string | null;
    head_branch: string | null;
    head_commit: string | null;
  };
  dev_repos: {
    id: string;
    /** The name under `[dev.repos]`; null while the clone is only known by where it lies. */
    name: string | null;
    path: string;
    last_number: number;
    last_comment: number;
    created_at: string;
  };
  dev_issues: {
    repo_id: string;
    number: number;
    title: string;
    body: string;
    labels: string;
    state: string;
    author: string;
    run_id: string | null;
    call_id: string;
    created_at: string;
    closed_at: string | null;
    closed_by: string | null;
  };
  dev_pulls: {
    repo_id: string;
    number: number;
    title: string;
    body: string;
    /** `opening` until its branch exists; such a row is never shown. */
    state: 'opening' | 'open' | 'closed' | 'merged';
    draft: number;
    base_ref: string;
    base_commit: string;
    head_ref: string;
    head_commit: string;
    author: string;
    run_id: string | null;
    call_id: string;
    created_at: string;
    closed_at: string | null;
    closed_by: string | null;
    merge_commit: string | null;
    merge_call_id: string | null;
    /** The last call that added a commit, and the commit, noted before the branch moves. */
    update_call_id: string | null;
    update_commit: string | null;
  };
  dev_comments: {
    repo_id: string;
    id: number;
    pr_number: number;
    body: string;
    author: string;
    run_id: string | null;
    call_id: string;
    created_at: string;
    /** A person's verdict; null for a plain comment. */
    review: 'approved' | 'changes_requested' | 'commented' | null;
  };
  /** What QA said of a commit, for agents that ask later. */
  dev_checks: {
    call_id: string;
    repo: string;
    commit_id: string;
    tool: string;
    status: string;
    summary: string;
    log_tail: string;
    finished_at: string;
    /** Bytes of output that were stored. */
    output_bytes: number;
  };
  dev_attempts: {
    call_id: string;
    run_id: string;
    kind: string;
    attempt_key: string;
    sent_at: string;
    /** 1 once its answer is known. */
    done: number;
  };
}
